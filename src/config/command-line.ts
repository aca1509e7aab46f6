/** The kinds of flags, and parsing of a command line by a table of flags. Contains no particular flag. */
import { didYouMean } from "../kernel/nearest.ts";
import { parseTime } from "./time.ts";

/** Wrong usage: the message is shown to the user, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

interface Common {
  readonly help: string;
  /** False: can be set only by an environment variable. */
  readonly flag?: false;
  /** False: can be set only by a flag. */
  readonly env?: false;
  /** Further environment names in order of precedence; the METAMCP_ name comes first. */
  readonly aliases?: readonly string[];
  /** The name of the value in the help text. */
  readonly value?: string;
  /** The commands that have it. Default: all. */
  readonly commands?: readonly string[];
  /** The value is a secret: it can also be in a file, which the variable with `_FILE` names. */
  readonly secret?: true;
  /** By name of a command without this flag: the advice for its users. */
  readonly instead?: Readonly<Record<string, string>>;
}

export type FlagRow = Common &
  (
    | {
        readonly kind: "whole" | "real";
        readonly default?: number;
        readonly least: number;
        readonly most?: number;
      }
    | { readonly kind: "time"; readonly default?: number; readonly least: number }
    | { readonly kind: "text"; readonly default?: string }
    | { readonly kind: "switch"; readonly default?: boolean }
    | { readonly kind: "choice"; readonly default?: string; readonly choices: readonly string[] }
    | {
        readonly kind: "list";
        /** False: commas do not separate items. */
        readonly commas?: false;
      }
  );

export type Table = Readonly<Record<string, FlagRow>>;

type Parsed<R extends FlagRow> = R extends { readonly choices: readonly (infer C)[] }
  ? C
  : R["kind"] extends "switch"
    ? boolean
    : R["kind"] extends "list"
      ? readonly string[]
      : R["kind"] extends "text"
        ? string
        : number;

/** A value may be undefined only if its row has no default and is neither a switch nor a list. */
export type FlagValues<T extends Table> = {
  readonly [K in keyof T]: T[K] extends { readonly default: unknown } | { readonly kind: "switch" | "list" }
    ? Parsed<T[K]>
    : Parsed<T[K]> | undefined;
};

export type FlagValue = string | number | boolean | readonly string[];

/** `maxConnections` gives `--max-connections`. */
export function flagOf(key: string): string {
  return `--${words(key).join("-")}`;
}

/** `maxConnections` gives `METAMCP_MAX_CONNECTIONS`. */
export function envOf(key: string): string {
  return `METAMCP_${words(key).join("_").toUpperCase()}`;
}

function words(key: string): readonly string[] {
  return key.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** Throws UsageError. `source` is the flag or variable, for the message. */
export function parseValue(row: FlagRow, written: string, source: string): FlagValue {
  const value = read(row, written.trim());
  if (value === undefined)
    throw new UsageError(`${source} is "${written}", but must be ${expectation(row)}.${hint(row, written)}`);
  return value;
}

function read(row: FlagRow, written: string): FlagValue | undefined {
  switch (row.kind) {
    case "whole":
      return /^\d+$/.test(written) ? within(row, Number(written)) : undefined;
    case "real":
      return /^\d*\.?\d+(?:e-?\d+)?$/i.test(written) ? within(row, Number(written)) : undefined;
    case "time":
      return within(row, parseTime(written));
    case "text":
      return written === "" ? undefined : written;
    case "switch":
      return SWITCH[written.toLowerCase()];
    case "choice":
      return row.choices.find((choice) => choice === written.toLowerCase());
    case "list": {
      const items = (row.commas === false ? [written] : written.split(","))
        .map((item) => item.trim())
        .filter((item) => item !== "");
      return items.length > 0 ? items : undefined;
    }
  }
}

const SWITCH: Readonly<Record<string, boolean>> = {
  true: true,
  "1": true,
  yes: true,
  on: true,
  false: false,
  "0": false,
  no: false,
  off: false,
};

function within(row: { least: number; most?: number }, value: number | undefined): number | undefined {
  const { least, most = Number.MAX_SAFE_INTEGER } = row;
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

function expectation(row: FlagRow): string {
  switch (row.kind) {
    case "whole":
    case "real": {
      const number = row.kind === "whole" ? "a whole number" : "a number";
      return row.most === undefined
        ? `${number}, at least ${row.least}`
        : `${number} from ${row.least} to ${row.most}`;
    }
    case "time":
      return `a time, at least ${row.least} ms and at most 24 days: milliseconds, or as in 500ms, 30s, 5m, 1h`;
    case "text":
      return "some text";
    case "switch":
      return "true or false";
    case "choice":
      return `one of ${row.choices.join(", ")}`;
    case "list":
      return row.commas === false ? "some text" : "one or more values, separated by commas";
  }
}

function hint(row: FlagRow, written: string): string {
  return row.kind === "choice" ? didYouMean(written, row.choices) : "";
}

export interface CommandLine {
  /** The given values, by key of the table. */
  readonly values: ReadonlyMap<string, FlagValue>;
  readonly positionals: readonly string[];
  /** The number of positionals before `--`; undefined without `--`. */
  readonly beforeDashes: number | undefined;
}

const SHORT: Readonly<Record<string, string>> = { "-h": "--help", "-v": "--version", "-V": "--version" };

/**
 * The last of a repeated flag wins, lists are joined, and `--` ends the flags. `explain` may return a message
 * for a flag that is not in the table.
 */
export function parseFlags(
  argv: readonly string[],
  table: Table,
  explain: (flag: string) => string | undefined = () => undefined,
): CommandLine {
  const keys = new Map(
    Object.entries(table).flatMap(([key, row]) => (row.flag === false ? [] : [[flagOf(key), key]])),
  );
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];
  let beforeDashes: number | undefined;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      beforeDashes = positionals.length;
      positionals.push(...rest.splice(0));
    } else if (!word.startsWith("-") || word === "-") {
      positionals.push(word);
    } else {
      const [name, inline] = split(SHORT[word] ?? word);
      const key = keys.get(name);
      const row = key === undefined ? undefined : table[key];
      if (key === undefined || row === undefined) {
        throw new UsageError(explain(name) ?? `${name} is not a known flag.${didYouMean(name, keys.keys())}`);
      }
      const value = parseValue(row, inline ?? following(row, name, rest), name);
      const before = values.get(key);
      values.set(key, Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value);
    }
  }
  return { values, positionals, beforeDashes };
}

function split(word: string): readonly [name: string, inline: string | undefined] {
  const equals = word.indexOf("=");
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** The value after a flag. The next flag is not taken as the value. */
function following(row: FlagRow, name: string, rest: string[]): string {
  if (row.kind === "switch") return "true";
  const next = rest[0];
  if (next === undefined || next.startsWith("--"))
    throw new UsageError(`${name} needs a value: ${expectation(row)}.`);
  rest.shift();
  return next;
}
