/** Durations in options of layers: milliseconds, or a text such as "5m". */

import { parseTime } from "../config/time.ts";
import type { FieldProblem } from "../kernel/field-problem.ts";

export const TIME = {
  anyOf: [{ type: "integer", minimum: 1 }, { type: "string" }],
  description: 'milliseconds, or a time such as "60s" or "5m"',
} as const;

export function timeProblems(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): readonly FieldProblem[] {
  return names.flatMap((name) =>
    options[name] === undefined || (parseTime(options[name]) ?? 0) >= 1
      ? []
      : [{ path: `/${name}`, message: `must be ${TIME.description}` }],
  );
}

/** The value must have been checked. */
export function msOf(value: unknown): number {
  return parseTime(value) as number;
}
