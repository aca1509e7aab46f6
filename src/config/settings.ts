/** Flags and environment as typed settings. Defaults < file < environment < flags; reads no file itself. */
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
import { ignoredFlags } from "./ignored-flags.ts";

export interface ReadOptions<Own extends Table> {
  /** `run` is MetaMCP itself. */
  readonly command?: string;
  /** Flags that only this command has. */
  readonly own?: Own;
}

export interface ReadSettings<Own extends Table> {
  readonly settings: Settings & FlagValues<Own>;
  /** Which keys were given, and where: `--port`, `METAMCP_PORT`. All others have their default. */
  readonly given: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** How many of them stood before `--`; undefined without one. */
  readonly beforeDashes: number | undefined;
  /** For the config: only what was given, so that a flag wins over the file even where it repeats a default. */
  readonly overrides: Overrides;
  /** Variables that look like a misspelt one of ours, and flags that have no effect. */
  readonly warnings: readonly string[];
}

/** Throws UsageError. `argv` is what follows the command. */
export function readSettings<Own extends Table = Record<never, never>>(
  argv: readonly string[],
  env: Env,
  { command = "run", own }: ReadOptions<Own> = {},
): ReadSettings<Own> {
  const table: Table = { ...flagsFor(command), ...own };
  const line = parseFlags(argv, table, (flag) => flagElsewhere(flag, command));
  const { values: flags, positionals, beforeDashes } = line;
  // Whoever asks for help gets it, whatever else is wrong.
  const serious = !flags.has("help") && !flags.has("version");
  const values: Record<string, FlagValue | undefined> = {};
  const given = new Map<string, string>();
  for (const [key, row] of Object.entries({ ...FLAGS, ...own })) {
    const fromEnv = serious && key in table ? readEnv(key, row, env) : undefined;
    const flag = flags.get(key);
    if (flag !== undefined) given.set(key, flagOf(key));
    else if (fromEnv) given.set(key, fromEnv.source);
    values[key] = flag ?? fromEnv?.value ?? defaultOf(row);
  }
  const settings = values as Settings & FlagValues<Own>;
  if (serious) checkTogether(settings, given);
  const overrides = overridesOf(settings, given);
  const useless = "transport" in table ? ignoredFlags(settings, given) : [];
  const warnings = [...misspelt(env), ...useless];
  return { settings, given, positionals, beforeDashes, overrides, warnings };
}

/** A flag that exists, but not here. */
function flagElsewhere(flag: string, command: string): string | undefined {
  const rows: Table = FLAGS;
  const { commands, instead } = Object.entries(rows).find(([key]) => flagOf(key) === flag)?.[1] ?? {};
  if (instead?.[command]) return instead[command];
  const homes = commands?.map((other) => (other === "run" ? "metamcp" : `metamcp ${other}`)).join(", ");
  return homes && `${flag} is not a flag of "metamcp ${command}". It belongs to ${homes}.`;
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

/** A certificate without the switch would be served to nobody: more likely the switch was forgotten. */
function checkTogether({ tls, tlsCert, tlsKey }: Settings, given: ReadonlyMap<string, string>): void {
  if (tls && !(tlsCert && tlsKey)) throw new UsageError("--tls needs --tls-cert and --tls-key.");
  if (!given.has("tls") && (tlsCert || tlsKey)) throw new UsageError("--tls-cert and --tls-key need --tls.");
}

/** Keys of the file by the setting that overrides them. */
const OVERRIDES = {
  maxConnections: "poolSize",
  resPoolSize: "resPoolSize",
  minPoolSize: "minPoolSize",
  resPoolTimeout: "resPoolTimeout",
  idleTimeout: "idleTimeoutMs",
  failureThreshold: "failureThreshold",
  cooldown: "cooldownMs",
  maxResultBytes: "maxResultBytes",
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

/** A variable with our prefix that nothing reads, where it is close to one that something does. */
function misspelt(env: Env): readonly string[] {
  const rows: Table = { ...FLAGS, ...SERVE_FLAGS };
  const known = Object.keys(rows).flatMap((key) =>
    rows[key]?.env === false ? [] : [envOf(key), ...(rows[key]?.aliases ?? [])],
  );
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
