/** From a config file to a checked, frozen value. Refuses only what cannot be read as a whole; one bad server stays one bad server. */
import { dirname, resolve } from "node:path";
import { codeOf, readIfThere } from "../home/file.ts";
import type { Env } from "../home/home.ts";
import type { FileConsent, Withheld } from "./allowed.ts";
import { checkConfig, emptyConfig, type Overrides } from "./check.ts";
import { ConfigError } from "./config-error.ts";
import { isKeys, type Keys, kindOf } from "./field.ts";
import { checkedLayers, type LayerCheck } from "./layers.ts";
import { parseText, positionOfKey } from "./parse.ts";
import type { Config } from "./spec.ts";

export interface LoadOptions {
  readonly env: Env;
  /** What flags and environment say: wins over the file. */
  readonly overrides?: Overrides;
  /** Without it the user named the file, and all in it may be used. */
  readonly consent?: FileConsent | undefined;
  /** Judges the layers that it names; without it what has layers is not used. */
  readonly layers?: LayerCheck | undefined;
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
  const around = { path: absolute, folder: dirname(absolute), env, overrides };
  const withheld = await consent?.check(absolute, value);
  if (withheld) return withhold(checkConfig(servers(value), around), withheld);
  const { config, faults } = await checkedLayers(checkConfig(value, around), layers);
  if (faults.length === 0) return config;
  throw new ConfigError(absolute, faults.join("; "), await positionOfKey(text, "middleware"));
}

/** Of a file that is not allowed nothing else counts. */
function servers({ mcpServers = {} }: Keys): Keys {
  return { mcpServers };
}

/** Every server is shown, and none can be used. */
function withhold(config: Config, withheld: Withheld): Config {
  const names = [...config.servers.keys()];
  return Object.freeze({
    ...config,
    servers: new Map(),
    broken: new Map([...config.broken, ...names.map((name) => [name, withheld.reason] as const)]),
    withheld,
  });
}
