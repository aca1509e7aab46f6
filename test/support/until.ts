/** Waits for a condition by looking, never by guessing how long it takes. */

export interface Patience {
  /** How long to look, in ms. Less than a test may take, so that the message says what did not come. */
  readonly within?: number;
  /** What is waited for, for the message. */
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
