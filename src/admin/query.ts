/** Checks the query of a request against the parameters that a route declares, and converts the values. */
import type { Properties, Schema } from "../kernel/json-schema.ts";
import { Problem } from "./problem.ts";

/** Refuses unknown parameters, so that a misspelt `dryRun` does not make the change. Throws Problem. */
export function readQuery(given: URLSearchParams, declared: Properties): Readonly<Record<string, unknown>> {
  const query: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(declared))
    if ("default" in schema) query[name] = schema["default"];
  for (const [name, text] of given) {
    const schema = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const known = Object.keys(declared).join(", ") || "none";
    if (!schema) throw new Problem(400, `unknown query parameter "${name}"; known: ${known}`);
    if (given.getAll(name).length > 1) throw new Problem(400, `the query contains "${name}" twice`);
    if (!fits(text, schema)) throw new Problem(400, `"${name}" in the query must be ${expectedBy(schema)}`);
    query[name] = converted(text, schema);
  }
  return query;
}

/** A time needs a time zone. Otherwise its meaning would depend on the time zone of the gateway. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/i;

/** An impossible value would otherwise return an empty list, as if nothing matched. */
function fits(text: string, schema: Schema): boolean {
  const { type, format, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (Array.isArray(values)) return values.includes(text);
  if (format === "date-time") return TIME.test(text) && !Number.isNaN(Date.parse(text));
  if (type === "boolean") return text === "true" || text === "false";
  if (type !== "integer") return true;
  return /^\d{1,15}$/.test(text) && Number(text) >= Number(minimum) && Number(text) <= Number(maximum);
}

function converted(text: string, { type }: Schema): unknown {
  if (type === "boolean") return text === "true";
  return type === "integer" ? Number(text) : text;
}

function expectedBy({ type, format, enum: values, minimum, maximum }: Schema): string {
  if (Array.isArray(values)) return `one of ${values.join(", ")}`;
  if (format === "date-time") return "a time such as 2030-01-31T12:00:00Z";
  if (type === "boolean") return "true or false";
  return maximum === undefined
    ? "a whole number"
    : `a whole number from ${Number(minimum)} to ${Number(maximum)}`;
}
