/** Estimates how many tokens definitions and results cost a model. */
import { COUNT, type ObjectSchema, type Static } from "./json-schema.ts";

/**
 * Calibrated with the tokenizer o200k on the tool lists of 19 servers: `npm run bench:tokens` shows the
 * error.
 */
const BYTES_PER_TOKEN = 4.4;

export const COST = {
  bytes: {
    ...COUNT,
    description: "of what models get: names, descriptions and input schemas of tools; instructions",
  },
  tokens: { ...COUNT, description: `estimated, ${BYTES_PER_TOKEN} bytes per token` },
} as const;
export type Cost = Static<ObjectSchema<typeof COST, keyof typeof COST>>;

export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function costOf(bytes: number): Cost {
  return { bytes, tokens: tokensOf(bytes) };
}
