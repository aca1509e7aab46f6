/**
 * Writes a tool's inputs on one line for a model: `echo(message: string, times?: int)`. The length is bounded
 * for any schema.
 */
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { member } from "../rpc/slice.ts";
import { withOptionalDefaults } from "./optional-defaults.ts";
import { targetOf } from "./schema-pointer.ts";
import type { Tool } from "./tool.ts";

const MAX_LENGTH = 240;
const MAX_NAME_LENGTH = 64;
const MAX_CHOICE_LENGTH = 24;
const MAX_CHOICES = 8;
const MAX_DEPTH = 3;
const MAX_NESTED = 6;
const PLAIN_NAME = /^[\w$.-]+$/;
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["integer", "int"],
  ["number", "number"],
  ["boolean", "bool"],
  ["null", "null"],
]);

type Schema = Readonly<Record<string, unknown>>;

/**
 * Required inputs come first; those with a default count as optional. Inputs that exceed `maxLength` UTF-16
 * units are replaced by `…`.
 */
export function signatureOf(name: string, inputSchema: Raw, maxLength = MAX_LENGTH): string {
  const schema = parse(inputSchema);
  const shown: string[] = [];
  let length = 2 + name.length;
  for (const part of isRecord(schema) ? parametersOf(schema, schema, 0) : []) {
    if (length + part.length + 3 > maxLength) {
      shown.push("…");
      break;
    }
    shown.push(part);
    length += part.length + 2;
  }
  return `${name}(${shown.join(", ")})`;
}

/**
 * The signature with the type of the result, if the tool declares one that says something and fits: `now():
 * {time: string}`.
 */
export function signatureWithResult({
  name,
  inputSchema,
  definition,
}: Pick<Tool, "name" | "inputSchema" | "definition">): string {
  const call = signatureOf(name, inputSchema);
  const output = member(definition, "outputSchema");
  const schema = output && rawSchema(output);
  const type = isRecord(schema) ? typeOf(schema, schema, 0) : "any";
  const tells = type !== "any" && type !== "object";
  return tells && call.length + 2 + type.length <= MAX_LENGTH ? `${call}: ${type}` : call;
}

/** The types of the top-level inputs, by name, as the signature shows them. */
export function typesOf(inputSchema: Raw): ReadonlyMap<string, string> {
  const schema = parse(inputSchema);
  const properties = isRecord(schema) ? own(schema, "properties") : undefined;
  if (!isRecord(schema) || !isRecord(properties)) return new Map();
  return new Map(Object.entries(properties).map(([key, property]) => [key, typeOf(property, schema, 0)]));
}

function parse(raw: Raw): unknown {
  try {
    const schema = fromRaw(raw);
    return isRecord(schema) ? withOptionalDefaults(schema) : schema;
  } catch {
    return rawSchema(raw);
  }
}

function rawSchema(raw: Raw): unknown {
  try {
    return fromRaw(raw);
  } catch {
    return undefined;
  }
}

function own(schema: Schema, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

/**
 * Yields `name: type` for each property. A generator, because only a few of a large schema are shown. `$ref`
 * paths start at `root`.
 */
function* parametersOf(schema: Schema, root: Schema, depth: number): Generator<string> {
  const properties = own(schema, "properties");
  if (!isRecord(properties)) return;
  const list = own(schema, "required");
  const required = new Set<unknown>(Array.isArray(list) ? list : []);
  const keys = Object.keys(properties);
  for (const must of [true, false]) {
    for (const key of keys) {
      if (required.has(key) !== must) continue;
      yield `${nameOf(key)}${must ? "" : "?"}: ${typeOf(properties[key], root, depth)}`;
    }
  }
}

function nameOf(key: string): string {
  const short = key.length > MAX_NAME_LENGTH ? `${key.slice(0, MAX_NAME_LENGTH - 1)}…` : key;
  return PLAIN_NAME.test(key) ? short : JSON.stringify(short);
}

function typeOf(schema: unknown, root: Schema, depth: number): string {
  if (!isRecord(schema) || depth > MAX_DEPTH) return "any";
  const target = refOf(schema, root);
  if (target) return typeOf(target, root, depth + 1);
  if (Object.hasOwn(schema, "const")) return literal(schema["const"]);
  const choices = own(schema, "enum");
  if (Array.isArray(choices) && choices.length > 0) return choicesOf(choices);
  for (const key of ["anyOf", "oneOf"]) {
    const options = own(schema, key);
    if (Array.isArray(options) && options.length > 0) return union(options, root, depth);
  }
  const type = own(schema, "type");
  if (Array.isArray(type)) {
    return union(
      type.slice(0, MAX_CHOICES + 1).map((one) => ({ ...schema, type: one })),
      root,
      depth,
    );
  }
  return plainType(type, schema, root, depth);
}

function plainType(type: unknown, schema: Schema, root: Schema, depth: number): string {
  if (type === "array" || (type === undefined && Object.hasOwn(schema, "items"))) {
    const item = typeOf(own(schema, "items"), root, depth + 1);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (type === "object" || (type === undefined && Object.hasOwn(schema, "properties"))) {
    return objectType(schema, root, depth);
  }
  return TYPE_NAMES.get(String(type)) ?? "any";
}

function objectType(schema: Schema, root: Schema, depth: number): string {
  const shown: string[] = [];
  for (const part of depth < MAX_DEPTH ? parametersOf(schema, root, depth + 1) : []) {
    shown.push(shown.length < MAX_NESTED ? part : "…");
    if (shown.length > MAX_NESTED) break;
  }
  return shown.length === 0 ? "object" : `{${shown.join(", ")}}`;
}

function union(options: readonly unknown[], root: Schema, depth: number): string {
  const types = new Set(options.slice(0, MAX_CHOICES).map((option) => typeOf(option, root, depth + 1)));
  if (types.has("any")) return "any";
  return [...types].join(" | ") + (options.length > MAX_CHOICES ? " | …" : "");
}

function choicesOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map(literal);
  return shown.join(" | ") + (choices.length > MAX_CHOICES ? " | …" : "");
}

function literal(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(
      value.length > MAX_CHOICE_LENGTH ? `${value.slice(0, MAX_CHOICE_LENGTH - 1)}…` : value,
    );
  }
  return typeof value === "object" && value !== null ? "object" : String(value);
}

/** Resolves only references within the schema, so nothing is fetched. */
function refOf(schema: Schema, root: Schema): Schema | undefined {
  const ref = own(schema, "$ref");
  const target = typeof ref === "string" ? targetOf(root, ref) : undefined;
  return isRecord(target) ? target : undefined;
}
