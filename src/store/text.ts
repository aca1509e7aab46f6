/**
 * Checks texts for text columns: Postgres accepts no NUL, and an unpaired surrogate would be read back as
 * another character.
 */
import { StoreError } from "./error.ts";

const UNFIT = /\0|\p{Surrogate}/u;

export function checkText(...texts: readonly (string | undefined)[]): void {
  for (const text of texts)
    if (text !== undefined && UNFIT.test(text))
      throw new StoreError("invalid", `${JSON.stringify(text)} has characters that cannot be stored`);
}

/** JSON escapes NUL and unpaired surrogates, so any value can be stored. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new StoreError("invalid", "a value that is not JSON cannot be stored");
  return text;
}
