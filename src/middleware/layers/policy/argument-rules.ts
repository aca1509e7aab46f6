/**
 * Rules for the values of arguments. A value of another type counts as missing. Each element of an array is
 * checked.
 */
import { isDeepStrictEqual } from "node:util";
import { compileGlob } from "../../../config/glob.ts";
import { isRecord } from "../../../kernel/is-record.ts";

export interface ArgumentRule {
  readonly in?: readonly unknown[];
  readonly max?: number;
  readonly min?: number;
  readonly glob?: string | readonly string[];
}

export interface ArgumentVerdict {
  /** Every value matches, so an allow rule applies. */
  readonly all: boolean;
  /** One value matches or is missing, so a deny rule applies. */
  readonly any: boolean;
  /** The first path without a value that can be checked. */
  readonly missing: string | undefined;
}

type Test = (value: unknown) => boolean | undefined;
export type ArgumentJudge = (args: Readonly<Record<string, unknown>>) => ArgumentVerdict;

const MAX_VALUES = 10_000;

export function compileArguments(rules: Readonly<Record<string, ArgumentRule>>): ArgumentJudge {
  const tests = Object.entries(rules).map(([path, rule]) => ({
    path,
    parts: path.split("."),
    test: testOf(rule),
  }));
  return (args) => {
    let [all, any] = [true, true];
    let missing: string | undefined;
    for (const { path, parts, test } of tests) {
      const results = valuesAt(args, parts)?.map(test);
      if (!results || results.length === 0 || results.includes(undefined)) {
        missing ??= path;
        all = false;
      } else {
        all &&= results.every((fits) => fits);
        any &&= results.some((fits) => fits);
      }
    }
    return { all, any, missing };
  };
}

/** The test returns undefined for a value of another type. */
function testOf({ in: values, max, min, glob }: ArgumentRule): Test {
  const globs = glob === undefined ? undefined : (typeof glob === "string" ? [glob] : glob).map(compileGlob);
  const types = new Set(values?.map((value) => typeof value));
  const scalars = new Set(values);
  const objects = values?.filter((value) => typeof value === "object" && value !== null) ?? [];
  return (value) => {
    if (values && !types.has(typeof value)) return undefined;
    if ((max !== undefined || min !== undefined) && typeof value !== "number") return undefined;
    // The parser rounded this number, so its exact value is unknown.
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
    if (globs && typeof value !== "string") return undefined;
    return (
      (!values || scalars.has(value) || objects.some((one) => isDeepStrictEqual(one, value))) &&
      (max === undefined || (value as number) <= max) &&
      (min === undefined || (value as number) >= min) &&
      (globs?.some((matches) => matches(value as string)) ?? true)
    );
  };
}

/**
 * All values at a dotted path, through arrays; undefined if one is missing or there are too many to check.
 */
function valuesAt(args: unknown, parts: readonly string[]): readonly unknown[] | undefined {
  let values: readonly unknown[] = flat(args);
  for (const part of parts) {
    const next: unknown[] = [];
    for (const value of values) {
      if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
      next.push(...flat(value[part]));
      if (next.length > MAX_VALUES) return undefined;
    }
    values = next;
  }
  return values;
}

function flat(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  const many: readonly unknown[] = value;
  return many.length > MAX_VALUES ? [] : many;
}
