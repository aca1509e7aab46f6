/** The file as a whole cannot be used: what is wrong, and where. */
import type { Position } from "./parse.ts";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly path: string;
  /** Counted from 1; undefined where the file could not be read at all. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(path: string, message: string, at?: Position) {
    super(at ? `${path}:${at.line}:${at.column}: ${message}` : `${path}: ${message}`);
    this.path = path;
    this.line = at?.line;
    this.column = at?.column;
  }
}
