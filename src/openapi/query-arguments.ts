/** Arguments in the query of a GET request. Only for read-only tools whose arguments are all scalars. */
import { Problem } from "../admin/problem.ts";
import type { Tool } from "../catalog/tool.ts";
import { isRecord } from "../kernel/is-record.ts";
import { perObject } from "../kernel/per-object.ts";
import { asRaw, fromRaw, type Raw } from "../kernel/raw.ts";

const SCALARS = ["string", "integer", "number", "boolean", "null"] as const;
type Scalar = (typeof SCALARS)[number];

/** The allowed types of each argument. */
export type ScalarArguments = ReadonlyMap<string, ReadonlySet<Scalar>>;

/** Returns undefined if the tool cannot be called with GET. */
export const scalarArguments = perObject(({ annotations, inputSchema }: Tool): ScalarArguments | undefined =>
  annotations.readOnlyHint === true ? scalarsIn(inputSchema) : undefined,
);

function scalarsIn(inputSchema: Raw): ScalarArguments | undefined {
  const { properties = {} } = fromRaw(inputSchema) as { readonly properties?: unknown };
  if (!isRecord(properties)) return undefined;
  const found = new Map<string, ReadonlySet<Scalar>>();
  for (const [name, schema] of Object.entries(properties)) {
    const types = typesOf(schema);
    if (!types || types.size === 0) return undefined;
    found.set(name, types);
  }
  return found;
}

/** Returns undefined if the schema also allows other types, or if that is unknown. */
function typesOf(schema: unknown): ReadonlySet<Scalar> | undefined {
  if (!isRecord(schema)) return undefined;
  const { type, enum: values, anyOf, oneOf } = schema;
  if (type !== undefined) return scalarSet([type].flat());
  if ("const" in schema) return scalarSet([typeOfValue(schema["const"])]);
  if (Array.isArray(values)) return scalarSet(values.map(typeOfValue));
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices)) return undefined;
  const all = choices.map(typesOf);
  return all.includes(undefined) ? undefined : new Set(all.flatMap((types) => [...(types ?? [])]));
}

function scalarSet(types: readonly unknown[]): ReadonlySet<Scalar> | undefined {
  const scalars = types.filter((type): type is Scalar => (SCALARS as readonly unknown[]).includes(type));
  return scalars.length === types.length ? new Set(scalars) : undefined;
}

function typeOfValue(value: unknown): string {
  return value === null ? "null" : typeof value;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Converts a query to JSON. Numbers keep their digits. A value that does not match its type stays a string,
 * and schema validation refuses it.
 */
export function argumentsIn(query: Iterable<readonly [string, string]>, scalars: ScalarArguments): Raw {
  const values = new Map<string, string>();
  for (const [name, text] of query) {
    if (values.has(name)) throw new Problem(400, `the query contains "${name}" twice`);
    values.set(name, jsonOf(text, scalars.get(name)));
  }
  const parts = [...values].map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return asRaw(Buffer.from(`{${parts.join()}}`));
}

function jsonOf(text: string, types: ReadonlySet<Scalar> | undefined): string {
  const numeric = types?.has("number") || types?.has("integer");
  if (numeric && NUMBER.test(text)) return text;
  if (types?.has("boolean") && (text === "true" || text === "false")) return text;
  return types?.has("null") && !types.has("string") && text === "null" ? text : JSON.stringify(text);
}
