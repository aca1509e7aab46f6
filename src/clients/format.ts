/** The interface to add and remove one entry in the text of a client's file without changing the rest. */
import type { Keys } from "../config/field.ts";

export interface FormatTarget {
  /** Only for messages. */
  readonly path: string;
  readonly text: string;
}

export interface Format {
  /** Throws ConfigError, with line and column if known. An empty file is an empty object. */
  parse(target: FormatTarget): Promise<Keys>;
  /** `at` contains the keys that lead to the entry. */
  put(target: FormatTarget, at: readonly string[], entry: Keys): Promise<string>;
  drop(target: FormatTarget, at: readonly string[]): Promise<string>;
}
