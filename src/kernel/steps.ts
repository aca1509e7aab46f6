/**
 * Long work in steps, so that others are served between them: a generator that yields where it can pause.
 * Nothing here knows what the work is.
 */

export type Steps<T> = Generator<void, T>;

/** Far below what a caller notices, and long enough that pauses cost nothing. */
const TURN_MS = 10;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Gives the event loop to others whenever the work has used its time. */
export async function inTurns<T>(
  work: T | Steps<T>,
  now: () => number = () => performance.now(),
): Promise<T> {
  if (!isSteps(work)) return work;
  for (let until = now() + TURN_MS; ; ) {
    const { done, value } = work.next();
    if (done) return value;
    if (now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = now() + TURN_MS;
  }
}

/** The result of work that may come in steps, inside of work in steps. */
export function* resultOf<T>(work: T | Steps<T>): Steps<T> {
  return isSteps(work) ? yield* work : work;
}

function isSteps<T>(work: T | Steps<T>): work is Steps<T> {
  return typeof work === "object" && work !== null && "next" in work && Symbol.iterator in work;
}
