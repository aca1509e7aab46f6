/** A problem of one value in some input, and JSON Pointers (RFC 6901) to such values. */
import { object, type Static, TEXT } from "./json-schema.ts";

export const FIELD_PROBLEM = object({
  path: { ...TEXT, description: 'a JSON Pointer into the input; "" for all of it' },
  message: TEXT,
});
export type FieldProblem = Static<typeof FIELD_PROBLEM>;

/** Appends to a JSON Pointer. */
export function pointer(base: string, ...parts: readonly (string | number)[]): string {
  return base + parts.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Prefixes the paths of problems with `base`. */
export function below(base: string, problems: readonly FieldProblem[]): readonly FieldProblem[] {
  return problems.map(({ path, message }) => ({ path: base + path, message }));
}
