/** Estimates how many tokens definitions and results cost a model. */

/** Calibrated with the tokenizer o200k on the tool lists of 19 servers: `npm run bench:tokens` shows the error. */
const BYTES_PER_TOKEN = 4.4;

export interface Cost {
  readonly bytes: number;
  readonly tokens: number;
}

export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function costOf(bytes: number): Cost {
  return { bytes, tokens: tokensOf(bytes) };
}
