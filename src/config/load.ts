/**
 * Loads a config file as a checked, frozen value. Rejects only if the whole file is unusable; an invalid
 * server does not affect the others.
 */
import { dirname, resolve } from "node:path";
import { codeOf, readIfThere } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import type { FileConsent, Withheld } from "./allowed.ts";
import { checkConfig, emptyConfig, type Overrides } from "./check.ts";
import { ConfigError } from "./config-error.ts";
import { cannotConfine } from "./confinable.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { checkedLayers, type LayerCheck } from "./layers.ts";
import { parseText, positionOfKey } from "./parse.ts";
import type { Config } from "./spec.ts";

export interface LoadOptions {
  readonly env: Env;
  /** Values of flags and environment; they win over the file. */
  readonly overrides?: Overrides;
  /** Undefined if the user named the file: then it needs no consent. */
  readonly consent?: FileConsent | undefined;
  /** Checks middleware layers. Without it, servers and files with layers are refused. */
  readonly layers?: LayerCheck | undefined;
}

/** Reads and checks a file. A missing file gives no servers and `exists: false`. Throws ConfigError. */
export async function loadConfig(path: string, options: LoadOptions): Promise<Config> {
  return await parseConfig(path, await readConfigText(path), options);
}

/** Undefined if the file does not exist. */
export async function readConfigText(path: string): Promise<string | undefined> {
  try {
    return await readIfThere(path);
  } catch (error) {
    const code = codeOf(error);
    const why = code === "EISDIR" ? "it is a folder" : (code ?? "unknown fault");
    throw new ConfigError(resolve(path), `cannot be read (${why})`);
  }
}

/** Checks a text that was read before. */
export async function parseConfig(
  path: string,
  text: string | undefined,
  { env, overrides = {}, consent, layers }: LoadOptions,
): Promise<Config> {
  const absolute = resolve(path);
  if (text === undefined) return emptyConfig(absolute, overrides);
  const parsed = await parseText(text);
  if ("fault" in parsed) throw new ConfigError(absolute, parsed.fault, parsed.at);
  const { value } = parsed;
  if (!isKeys(value)) {
    const advice = `the file contains ${kindOf(value)}, not an object: write { "mcpServers": { … } }`;
    throw new ConfigError(absolute, advice, { line: 1, column: 1 });
  }
  const { mcpServers } = value;
  if (mcpServers !== undefined && !isKeys(mcpServers)) {
    const advice = `mcpServers is ${kindOf(mcpServers)}, not an object: write "mcpServers": { "name": { … } }`;
    throw new ConfigError(absolute, advice, await positionOfKey(text, "mcpServers"));
  }
  const isGuarded = consent?.guards(absolute) ?? false;
  const checkOptions = {
    path: absolute,
    isGuarded,
    folder: dirname(absolute),
    env,
    overrides,
    cannotConfine,
  };
  const withheld = await consent?.check(absolute, value);
  if (withheld) return withhold(checkConfig(onlyServers(value), checkOptions), withheld);
  const { config, faults } = await checkedLayers(checkConfig(value, checkOptions), layers);
  if (faults.length === 0) return config;
  throw new ConfigError(absolute, faults.join("; "), await positionOfKey(text, "middleware"));
}

/** All other keys of a file that is not allowed are ignored. */
function onlyServers({ mcpServers = {}, sandbox }: Keys): Keys {
  return sandbox === undefined ? { mcpServers } : { mcpServers, sandbox };
}

/** Marks every server as broken with the reason. */
function withhold(config: Config, withheld: Withheld): Config {
  const names = [...config.servers.keys()];
  return Object.freeze({
    ...config,
    servers: new Map(),
    broken: new Map([...config.broken, ...names.map((name) => [name, withheld.reason] as const)]),
    withheld,
  });
}
