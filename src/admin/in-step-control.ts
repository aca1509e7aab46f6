/** Read your writes over gateways on one store: a mark says what a gateway knows. */
export interface InStepControl {
  /** What this gateway knows. */
  readonly mark: string;
  /** Waits until everything that the mark stands for is known here. Undefined if it is. */
  reach(mark: unknown): Promise<void> | undefined;
  /** Waits until everything that was written before is known here. */
  catchUp(): Promise<void>;
}

/**
 * What a request names may have been made at another gateway a moment ago. So before it is refused for that,
 * this gateway catches up; if it was behind, the request runs again. It has changed nothing.
 */
export async function inStepWith<T>(
  inStep: InStepControl | undefined,
  mark: unknown,
  run: () => Promise<T>,
  isMissing: (error: unknown) => boolean,
): Promise<T> {
  if (!inStep) return await run();
  await inStep.reach(mark);
  const before = inStep.mark;
  try {
    return await run();
  } catch (error) {
    if (!isMissing(error)) throw error;
    await inStep.catchUp();
    if (inStep.mark === before) throw error;
    return await run();
  }
}
