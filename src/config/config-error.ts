/** Thrown if a config file cannot be used at all, with the position of the error. */
import type { Position } from "./parse.ts";

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly path: string;
  /** Counted from 1; undefined if there is no position. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(path: string, message: string, at?: Position) {
    super(at ? `${path}:${at.line}:${at.column}: ${message}` : `${path}: ${message}`);
    this.path = path;
    this.line = at?.line;
    this.column = at?.column;
  }
}
