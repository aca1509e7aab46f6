/**
 * Reads flags and environment as typed settings. Precedence: defaults < file < environment < flags. Reads no
 * file.
 */
import type { Env } from "../home/home.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Overrides } from "./check.ts";
import {
  envOf,
  type FlagValue,
  type FlagValues,
  flagOf,
  parseFlags,
  parseValue,
  type Table,
  UsageError,
} from "./command-line.ts";
import { FLAGS, flagsFor, type Settings } from "./flags.ts";
import { SERVE_FLAGS } from "./gateway-flags.ts";

export interface ReadOptions<Own extends Table> {
  /** `run` is MetaMCP without a command. */
  readonly command?: string;
  /** Flags that only this command has. */
  readonly own?: Own;
}

export interface ReadSettings<Own extends Table> {
  readonly settings: Settings & FlagValues<Own>;
  /** The given keys with their source: `--port`, `METAMCP_PORT`. All other keys have their default. */
  readonly given: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** The number of positionals before `--`; undefined without `--`. */
  readonly beforeDashes: number | undefined;
  /** For the config: only given values, so that a flag wins over the file even if it equals the default. */
  readonly overrides: Overrides;
  /** About variables that look misspelt, and flags without an effect. */
  readonly warnings: readonly string[];
}

/** Throws UsageError. `argv` contains the arguments after the command. */
export function readSettings<Own extends Table = Record<never, never>>(
  argv: readonly string[],
  env: Env,
  { command = "run", own }: ReadOptions<Own> = {},
): ReadSettings<Own> {
  const table: Table = { ...flagsFor(command), ...own };
  const line = parseFlags(argv, table, (flag) => flagElsewhere(flag, command));
  const { values: flags, positionals, beforeDashes } = line;
  // --help and --version work even if other settings are invalid.
  const checked = !flags.has("help") && !flags.has("version");
  const values: Record<string, FlagValue | undefined> = {};
  const given = new Map<string, string>();
  for (const [key, row] of Object.entries({ ...FLAGS, ...own })) {
    const fromEnv = checked && key in table ? readEnv(key, row, env) : undefined;
    const flag = flags.get(key);
    if (flag !== undefined) given.set(key, flagOf(key));
    else if (fromEnv) given.set(key, fromEnv.source);
    values[key] = flag ?? fromEnv?.value ?? defaultOf(row);
  }
  const settings = values as Settings & FlagValues<Own>;
  if (checked) checkTogether(settings, given);
  const overrides = overridesOf(settings, given);
  const ignored = "transport" in table ? ignoredFlags(settings, given) : [];
  const warnings = [...misspelt(env), ...ignored];
  return { settings, given, positionals, beforeDashes, overrides, warnings };
}

/** The message for a flag that other commands have. */
function flagElsewhere(flag: string, command: string): string | undefined {
  const rows: Table = FLAGS;
  const { commands, instead } = Object.entries(rows).find(([key]) => flagOf(key) === flag)?.[1] ?? {};
  if (instead?.[command]) return instead[command];
  const homes = commands?.map(written).join(", ");
  return homes && `${flag} is not a flag of "${written(command)}". It belongs to ${homes}.`;
}

/** The command as a person types it. */
function written(command: string): string {
  return command === "run" ? "metamcp" : `metamcp ${command}`;
}

function readEnv(
  key: string,
  row: Table[string],
  env: Env,
): { value: FlagValue; source: string } | undefined {
  if (row.env === false) return undefined;
  for (const source of [envOf(key), ...(row.aliases ?? [])]) {
    const written = env[source];
    if (written !== undefined && written.trim() !== "")
      return { value: parseValue(row, written, source), source };
  }
  return undefined;
}

function defaultOf(row: Table[string]): FlagValue | undefined {
  if (row.kind === "list") return [];
  return row.default ?? (row.kind === "switch" ? false : undefined);
}

/** A certificate without --tls is refused, because the user probably forgot --tls. */
function checkTogether({ tls, tlsCert, tlsKey }: Settings, given: ReadonlyMap<string, string>): void {
  if (tls && !(tlsCert && tlsKey)) throw new UsageError("--tls needs --tls-cert and --tls-key.");
  if (!given.has("tls") && (tlsCert || tlsKey)) throw new UsageError("--tls-cert and --tls-key need --tls.");
}

/** The setting, and the key of the file that it overrides. */
const OVERRIDES = {
  maxConnections: "poolSize",
  resPoolSize: "resPoolSize",
  minPoolSize: "minPoolSize",
  resPoolTimeout: "resPoolTimeout",
  idleTimeout: "idleTimeoutMs",
  failureThreshold: "failureThreshold",
  cooldown: "cooldownMs",
  maxResultBytes: "maxResultBytes",
  autoMaxBytes: "autoMaxBytes",
  pinned: "pinned",
  examplesFromUsage: "examplesFromUsage",
} as const satisfies Partial<Record<keyof Settings, keyof Overrides>>;

function overridesOf(settings: Settings, given: ReadonlyMap<string, string>): Overrides {
  const pick = (pairs: Readonly<Record<string, string>>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(pairs).flatMap(([key, name]) =>
        given.has(key) ? [[name, settings[key as keyof Settings]]] : [],
      ),
    );
  const embedder = pick({ embedderUrl: "url", embedderModel: "model", embedderKeyEnv: "keyEnv" });
  return { ...pick(OVERRIDES), ...(Object.keys(embedder).length > 0 ? { embedder } : {}) };
}

/** Warnings for unknown METAMCP_ variables whose name is close to a known one. */
function misspelt(env: Env): readonly string[] {
  const rows: Table = { ...FLAGS, ...SERVE_FLAGS };
  const named = Object.keys(rows).flatMap((key) =>
    rows[key]?.env === false ? [] : [envOf(key), ...(rows[key]?.aliases ?? [])],
  );
  // MetaMCP sets METAMCP_CHILD for its servers.
  const known = [...named, "METAMCP_CHILD"];
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith("METAMCP_") || known.includes(name)) return [];
    const [guess] = nearest(
      name.slice("METAMCP_".length),
      known.flatMap((one) => one.match(/^METAMCP_(.*)/)?.[1] ?? []),
      1,
    );
    return guess ? [`${name} is not a known variable. Did you mean "METAMCP_${guess}"?`] : [];
  });
}

/** Warns about flags that have no effect with the chosen transport. */
const HTTP_ONLY = [
  "host",
  "port",
  "tls",
  "tlsCert",
  "tlsKey",
  "accessLog",
  "heartbeat",
  "allowOrigin",
  "allowHost",
  "noAuth",
];
const STREAMABLE_ONLY = ["stateless", "jsonResponse", "sessionTimeout"];

/**
 * `given`: the given settings with their source. Variables are not checked, because they may be meant for
 * another MetaMCP.
 */
function ignoredFlags(
  { transport }: Pick<Settings, "transport">,
  given: ReadonlyMap<string, string>,
): readonly string[] {
  if (transport === "streamable") return [];
  const flagsOf = (keys: readonly string[]): string[] =>
    keys.map((key) => given.get(key) ?? "").filter((source) => source.startsWith("--"));
  const streamable = flagsOf(STREAMABLE_ONLY);
  const ignored = transport === "stdio" ? [...flagsOf(HTTP_ONLY), ...streamable] : streamable;
  if (ignored.length === 0) return [];
  const suggestion = streamable.length > 0 ? "streamable" : "streamable or sse";
  return [`No effect over ${transport}: ${ignored.join(", ")}. Did you mean --transport ${suggestion}?`];
}
