/** Waits for a condition by polling. */

export interface Patience {
  /** Timeout in ms. Shorter than the timeout of a test, so that the error says what was missing. */
  readonly within?: number;
  /** What is waited for, for the error message. */
  readonly what?: string;
}

/** The first value of `condition` that is neither false nor undefined. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { within = 30_000, what = "the condition" }: Patience = {},
): Promise<Exclude<T, false | undefined>> {
  const end = Date.now() + within;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== undefined) return value as Exclude<T, false | undefined>;
    if (Date.now() > end) throw new Error(`waited ${within} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
