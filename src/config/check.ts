/**
 * Turns a parsed config file into a Config. Pure: an invalid part becomes a warning, or the reason why one
 * server cannot be used.
 */
import { didYouMean } from "../kernel/nearest.ts";
import { readToolId, type ToolId } from "../kernel/tool-id.ts";
import { ConfigError } from "./config-error.ts";
import type { EntryContext } from "./entry-context.ts";
import { Findings, isKeys, type Keys, kindOf, time, whole } from "./field.ts";
import { checkTopKeys, type ForeignKeys, foreignWarnings, unknownKey } from "./keys.ts";
import { layersIn } from "./layers.ts";
import { readSandbox } from "./sandbox.ts";
import { checkServer } from "./server.ts";
import { SKILLS_SERVER, skillsIn } from "./skill-folders.ts";
import type { Config, PoolOptions, ServerSpec } from "./spec.ts";

export const POOL_DEFAULTS: PoolOptions = Object.freeze({
  poolSize: 20,
  resPoolSize: 0,
  minPoolSize: 0,
  resPoolTimeout: 5_000,
  idleTimeoutMs: 300_000,
  failureThreshold: 5,
  cooldownMs: 30_000,
});

/** Values from environment and flags that replace keys of the file. */
export interface Overrides extends Partial<PoolOptions> {
  readonly maxResultBytes?: number;
  readonly autoMaxBytes?: number;
  readonly pinned?: readonly string[];
  readonly examplesFromUsage?: boolean;
  readonly embedder?: { readonly url?: string; readonly model?: string; readonly keyEnv?: string };
}

export interface CheckOptions extends EntryContext {
  readonly overrides: Overrides;
}

/**
 * Expects `mcpServers` to be an object or missing. Throws ConfigError if a security setting for all servers
 * is invalid.
 */
export function checkConfig(file: Keys, options: CheckOptions): Config {
  const { path, isGuarded = false, folder, env, overrides, cannotConfine } = options;
  const findings = new Findings();
  checkTopKeys(file, findings);
  const layers = layersIn(file, findings);
  readSandbox(file["sandbox"], "sandbox", { env, folder }, findings);
  if (findings.faults.length > 0) throw new ConfigError(path, findings.reason);
  const skills = skillsIn(file, findings);
  if (file["mcpServers"] === undefined && !skills) findings.warn(noServers(file));
  const servers = checkServers(
    file["mcpServers"] ?? {},
    { path, isGuarded, folder, env, cannotConfine, sandbox: { default: file["sandbox"] }, skills },
    findings,
  );
  return Object.freeze({
    path,
    exists: true,
    ...servers,
    pool: readPool(file["pool"], overrides, findings),
    maxResultBytes: overrides.maxResultBytes ?? whole(file["maxResultBytes"], "maxResultBytes", findings, 1),
    autoMaxBytes: overrides.autoMaxBytes ?? whole(file["autoMaxBytes"], "autoMaxBytes", findings, 0),
    pinned: readPinned(overrides.pinned ?? file["pinned"], servers, findings),
    examplesFromUsage: overrides.examplesFromUsage ?? readFromUsage(file["examples"], findings),
    embedder: readEmbedder(file["embedder"], overrides, findings),
    ...layers,
    warnings: Object.freeze(findings.warnings),
  });
}

/** The config for a missing file. */
export function emptyConfig(path: string, overrides: Overrides): Config {
  const config = checkConfig({ mcpServers: {} }, { path, folder: "", env: {}, overrides });
  return Object.freeze({ ...config, exists: false });
}

function noServers(file: Keys): string {
  const other = ["servers", "mcp_servers", "context_servers"].find((key) => isKeys(file[key]));
  return other
    ? `the config file has no "mcpServers", so there are no servers. Rename "${other}" to "mcpServers".`
    : 'the config file has no "mcpServers", so there are no servers.';
}

function checkServers(
  entries: unknown,
  { skills, ...context }: EntryContext & { readonly skills: Keys | undefined },
  findings: Findings,
): Servers {
  const servers = new Map<string, ServerSpec>();
  const broken = new Map<string, string>();
  const disabled = new Set<string>();
  const foreign: ForeignKeys = new Map();
  const all = new Map(Object.entries(entries as Keys));
  if (skills && all.has(SKILLS_SERVER))
    findings.warn(`skills is ignored: a server has the name "${SKILLS_SERVER}". Rename it`);
  else if (skills) all.set(SKILLS_SERVER, skills);
  for (const [name, entry] of all) {
    const { result, warnings } = checkServer(name, entry, context, foreign);
    if (result === "disabled") disabled.add(name);
    else if ("spec" in result) servers.set(name, result.spec);
    else broken.set(name, result.reason);
    for (const warning of warnings) findings.warn(`${name}: ${warning}`);
  }
  for (const warning of foreignWarnings(foreign)) findings.warn(warning);
  return { servers, broken, disabled };
}

type Reader = (value: unknown, key: string, findings: Findings) => number | undefined;
const count =
  (least: number): Reader =>
  (value, key, findings) =>
    whole(value, key, findings, least);
const span: Reader = (value, key, findings) => time(value, key, findings, 0);

const POOL_READERS: Readonly<Record<keyof PoolOptions, Reader>> = {
  poolSize: count(1),
  resPoolSize: count(0),
  minPoolSize: count(0),
  resPoolTimeout: span,
  idleTimeoutMs: span,
  failureThreshold: count(1),
  cooldownMs: span,
};

function readPool(value: unknown, overrides: Overrides, findings: Findings): PoolOptions {
  const written = section(value, "pool", Object.keys(POOL_READERS), findings);
  const options = { ...POOL_DEFAULTS } as { -readonly [K in keyof PoolOptions]: PoolOptions[K] };
  for (const [name, read] of Object.entries(POOL_READERS)) {
    const key = name as keyof PoolOptions;
    options[key] = overrides[key] ?? read(written[key], `pool.${key}`, findings) ?? POOL_DEFAULTS[key];
  }
  if (options.minPoolSize >= options.poolSize) {
    findings.warn(
      `pool.minPoolSize ${options.minPoolSize} must be below poolSize ${options.poolSize}: ${options.poolSize - 1} is used`,
    );
    options.minPoolSize = options.poolSize - 1;
  }
  return Object.freeze(options);
}

type Servers = Pick<Config, "servers" | "broken" | "disabled">;

function readPinned(value: unknown, servers: Servers, findings: Findings): readonly ToolId[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    findings.warn(`pinned is ${kindOf(value)} and ignored: write a list of tools, ["SERVER:TOOL"]`);
    return [];
  }
  const { servers: usable, broken, disabled } = servers;
  const known = [...usable.keys(), ...broken.keys(), ...disabled];
  const ids = new Map<string, ToolId>();
  for (const [at, item] of value.entries()) {
    const id = typeof item === "string" ? readToolId(item) : undefined;
    if (!id) findings.warn(`pinned[${at}] is ignored: write "SERVER:TOOL"`);
    else if (!known.includes(id.server))
      findings.warn(`pinned[${at}]: there is no server "${id.server}".${didYouMean(id.server, known)}`);
    else ids.set(item as string, id);
  }
  return Object.freeze([...ids.values()]);
}

function readFromUsage(value: unknown, findings: Findings): boolean {
  const { fromUsage } = section(value, "examples", ["fromUsage"], findings);
  if (fromUsage === undefined || typeof fromUsage === "boolean") return fromUsage ?? false;
  findings.warn("examples.fromUsage is ignored: write true or false");
  return false;
}

function readEmbedder(value: unknown, { embedder = {} }: Overrides, findings: Findings): Config["embedder"] {
  const written = section(value, "embedder", ["url", "model", "keyEnv"], findings);
  const part = (key: "url" | "model" | "keyEnv"): string | undefined => {
    const found = embedder[key] ?? written[key];
    if (found === undefined || (typeof found === "string" && found !== "")) return found;
    return findings.warn(`embedder.${key} is ignored: write a string`);
  };
  const [url, model, keyEnv] = [part("url"), part("model"), part("keyEnv")];
  if (url !== undefined && model !== undefined && /^https?:/.test(url) && URL.canParse(url)) {
    return Object.freeze({ url, model, keyEnv });
  }
  if (url !== undefined || model !== undefined) {
    findings.warn("embedder is ignored: it needs a web address as url, and a model");
  }
  return undefined;
}

/** Reads an object at the top level. Anything else gives a warning and counts as missing. */
function section(value: unknown, key: string, known: readonly string[], findings: Findings): Keys {
  if (value === undefined) return {};
  if (!isKeys(value)) {
    findings.warn(`${key} is ${kindOf(value)} and ignored: write an object`);
    return {};
  }
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) findings.warn(`${key}: ${unknownKey(name, known)}`);
  }
  return value;
}
