/** Estimates how many tokens definitions and results cost a model. */

/** Dense JSON takes about four bytes per token with common tokenizers. */
const BYTES_PER_TOKEN = 4;

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
