/** How one entry gets into the text of a client's file and out again, with all else left as it is written. */
import type { Keys } from "../config/field.ts";

export interface FormatTarget {
  /** For messages. */
  readonly path: string;
  readonly text: string;
}

export interface Format {
  /** Throws ConfigError, with line and column where they are known. An empty file is an empty object. */
  parse(target: FormatTarget): Promise<Keys>;
  /** `at` leads to the entry. */
  put(target: FormatTarget, at: readonly string[], entry: Keys): Promise<string>;
  drop(target: FormatTarget, at: readonly string[]): Promise<string>;
}
