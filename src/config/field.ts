/**
 * Reads single keys of a config object. Records problems with advice; never throws, and never repeats a value
 * that could be a secret.
 */
import { type FieldProblem, pointer } from "../kernel/field-problem.ts";
import { isRecord } from "../kernel/is-record.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { parseTime } from "./time.ts";

export type Keys = Readonly<Record<string, unknown>>;
export const isKeys: (value: unknown) => value is Keys = isRecord;

/** The place of a value in an entry: `["args", 0]`, `["oauth", "scopes"]`. Empty for the entry itself. */
export type Path = readonly (string | number)[];

/** The problems of one object. A fault makes it unusable; after a warning the default is used. */
export class Findings {
  readonly faults: FieldProblem[] = [];
  readonly warnings: string[] = [];

  fault(path: Path, message: string): undefined {
    this.faults.push({ path: pointer("", ...path), message });
  }

  /** All faults in one text. */
  get reason(): string {
    return this.faults.map(({ message }) => message).join("; ");
  }

  warn(message: string): undefined {
    this.warnings.push(message);
  }
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return (
    { string: "a string", number: "a number", boolean: "true or false" }[typeof value as string] ??
    "an object"
  );
}

/** A place as people write it: `args[0]`, `oauth.scopes`. */
export function keyOf([first = "", ...rest]: Path): string {
  return rest.reduce<string>(
    (key, part) => (typeof part === "number" ? `${key}[${part}]` : `${key}.${part}`),
    String(first),
  );
}

/** Reads a string without NUL characters. */
export function text(value: unknown, path: Path, findings: Findings): string | undefined {
  if (typeof value !== "string") {
    const advice =
      typeof value === "number" || typeof value === "boolean" ? "put it in double quotes" : "write a string";
    return findings.fault(path, `${keyOf(path)} is ${kindOf(value)}: ${advice}`);
  }
  if (value.includes("\0")) return findings.fault(path, `${keyOf(path)} contains a NUL character: remove it`);
  return value;
}

/** Writes `tools.deny` as in a file: `"tools": { "deny": … }`. */
export function asWritten(key: string, value: string): string {
  const [last, ...outer] = key.split(".").reverse();
  return outer.reduce((inner, name) => `"${name}": { ${inner} }`, `"${last}": ${value}`);
}

export function texts(value: unknown, path: Path, findings: Findings): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    const key = keyOf(path);
    const instead = `write a list of strings, ${asWritten(key, '["…", "…"]')}`;
    findings.fault(path, `${key} is ${kindOf(value)}: ${instead}`);
    return [];
  }
  return value.flatMap((item, index) => text(item, [...path, index], findings) ?? []);
}

export function textMap(value: unknown, key: string, findings: Findings): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isKeys(value)) {
    findings.fault([key], `${key} is ${kindOf(value)}: write an object, "${key}": { "NAME": "value" }`);
    return {};
  }
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    text(item, [key, name], findings) ?? "",
  ]);
  return Object.fromEntries(entries);
}

/** An invalid value gives a warning and undefined, so that the default is used. */
export function time(value: unknown, key: string, findings: Findings, least = 1): number | undefined {
  if (value === undefined) return undefined;
  const ms = parseTime(value);
  if (ms !== undefined && ms >= least) return ms;
  return findings.warn(
    `${key} is ignored: write whole milliseconds from ${least} up to 24 days, or "30s", "5m"`,
  );
}

export function whole(value: unknown, key: string, findings: Findings, least: number): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= least) return number;
  return findings.warn(`${key} is ignored: write a whole number, at least ${least}`);
}

/**
 * Reads one of several words, or returns what is wrong. The caller decides whether that is a warning or a
 * fault.
 */
export function choice<const T extends string>(
  value: unknown,
  key: string,
  choices: readonly T[],
): { readonly chosen?: T; readonly wrong?: string } {
  if (value === undefined) return {};
  const chosen = choices.find((known) => known === value);
  if (chosen !== undefined) return { chosen };
  const known = choices.map((word) => `"${word}"`).join(" or ");
  const guess = typeof value === "string" ? didYouMean(value, choices) : "";
  const written = typeof value === "string" ? `"${value.slice(0, 40)}"` : kindOf(value);
  return { wrong: `${key} is ${written}: write ${known}.${guess}` };
}
