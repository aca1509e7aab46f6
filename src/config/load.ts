/** From a config file to a checked, frozen value. Refuses only what cannot be read as a whole; one bad server stays one bad server. */
import { dirname, resolve } from "node:path";
import { codeOf, readIfThere } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import { checkConfig, emptyConfig, type Overrides } from "./check.ts";
import { isKeys, kindOf } from "./field.ts";
import { type Position, parseText, positionOfKey } from "./parse.ts";
import type { Config } from "./spec.ts";

/** The file as a whole cannot be used: what is wrong, and where. */
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

export interface LoadOptions {
  readonly env: Env;
  /** What flags and environment say: wins over the file. */
  readonly overrides?: Overrides;
}

/** Reads and checks a file. One that is not there gives no servers and `exists: false`. Throws ConfigError. */
export async function loadConfig(path: string, options: LoadOptions): Promise<Config> {
  return await parseConfig(path, await readConfigText(path), options);
}

/** Undefined if there is no such file. */
export async function readConfigText(path: string): Promise<string | undefined> {
  try {
    return await readIfThere(path);
  } catch (error) {
    const code = codeOf(error);
    const why = code === "EISDIR" ? "it is a folder" : (code ?? "unknown fault");
    throw new ConfigError(resolve(path), `cannot be read (${why})`);
  }
}

/** The same for a text that was read already. */
export async function parseConfig(
  path: string,
  text: string | undefined,
  { env, overrides = {} }: LoadOptions,
): Promise<Config> {
  const absolute = resolve(path);
  if (text === undefined) return emptyConfig(absolute, overrides);
  const parsed = await parseText(text);
  if ("fault" in parsed) throw new ConfigError(absolute, parsed.fault, parsed.at);
  const { value } = parsed;
  if (!isKeys(value)) {
    const advice = `the file holds ${kindOf(value)}, not an object: write { "mcpServers": { … } }`;
    throw new ConfigError(absolute, advice, { line: 1, column: 1 });
  }
  const { mcpServers } = value;
  if (mcpServers !== undefined && !isKeys(mcpServers)) {
    const advice = `mcpServers is ${kindOf(mcpServers)}, not an object: write "mcpServers": { "name": { … } }`;
    throw new ConfigError(absolute, advice, await positionOfKey(text, "mcpServers"));
  }
  return checkConfig(value, { path: absolute, folder: dirname(absolute), env, overrides });
}
