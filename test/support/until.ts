/** Waits for a condition by polling. */

export interface Patience {
  /** Timeout in ms. Shorter than the timeout of a test, so that the error says what was missing. */
  readonly within?: number;
  /** What is waited for, for the error message. */
  readonly what?: string;
}

/** A condition is often a request to a process that others need to be done, so long waits ask less often. */
const [FIRST_MS, LONGEST_MS] = [10, 50];

/** The first value of `condition` that is neither false nor undefined. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { within = 30_000, what = "the condition" }: Patience = {},
): Promise<Exclude<T, false | undefined>> {
  const begin = Date.now();
  for (;;) {
    const value = await condition();
    if (value !== false && value !== undefined) return value as Exclude<T, false | undefined>;
    const waited = Date.now() - begin;
    if (waited > within) throw new Error(`waited ${within} ms in vain for ${what}`);
    const pause = Math.min(LONGEST_MS, FIRST_MS + waited / 20);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
