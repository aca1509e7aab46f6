/** From a config file to a checked, frozen value. */
import type { Env } from "../home/home.ts";
import type { Config, PoolOptions } from "./spec.ts";

/** The file as a whole cannot be used: what is wrong, and where. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly path: string;
  /** Counted from 1; undefined where the file could not be read at all. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(path: string, message: string, at?: { readonly line: number; readonly column: number }) {
    super(at ? `${path}:${at.line}:${at.column}: ${message}` : `${path}: ${message}`);
    this.path = path;
    this.line = at?.line;
    this.column = at?.column;
  }
}

export interface LoadOptions {
  readonly env: Env;
  /** What flags and environment say: wins over the file. */
  readonly overrides?: Partial<PoolOptions>;
}

/** Reads and checks a file. One that is not there gives no servers and `exists: false`. Throws ConfigError. */
export async function loadConfig(_path: string, _options: LoadOptions): Promise<Config> {
  throw new Error("not yet");
}
