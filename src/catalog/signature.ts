/** A tool's inputs on one line, for a model to call it by: `echo(message: string, times?: int)`. Bounded, whatever the schema holds. */
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";

const LONGEST = 240;
const LONGEST_NAME = 64;
const LONGEST_CHOICE = 24;
const MOST_CHOICES = 8;
const DEEPEST = 3;
const MOST_NESTED = 6;
const PLAIN_NAME = /^[\w$.-]+$/;
const NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["integer", "int"],
  ["number", "number"],
  ["boolean", "bool"],
  ["null", "null"],
]);

type Schema = Readonly<Record<string, unknown>>;

/** Required inputs first; what does not fit in `most` units is left out and said by `…`. */
export function signatureOf(name: string, inputSchema: Raw, most = LONGEST): string {
  const schema = parse(inputSchema);
  const shown: string[] = [];
  let length = 2 + name.length;
  for (const part of isRecord(schema) ? parametersOf(schema, schema, 0) : []) {
    if (length + part.length + 3 > most) {
      shown.push("…");
      break;
    }
    shown.push(part);
    length += part.length + 2;
  }
  return `${name}(${shown.join(", ")})`;
}

/** Of each input on the top level what it takes, as the signature says it. */
export function typesOf(inputSchema: Raw): ReadonlyMap<string, string> {
  const schema = parse(inputSchema);
  const properties = isRecord(schema) ? own(schema, "properties") : undefined;
  if (!isRecord(schema) || !isRecord(properties)) return new Map();
  return new Map(Object.entries(properties).map(([key, property]) => [key, typeOf(property, schema, 0)]));
}

function parse(raw: Raw): unknown {
  try {
    return fromRaw(raw);
  } catch {
    return undefined;
  }
}

function own(schema: Schema, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

/** `name: type` for each property, made one by one: few of a large schema are shown. `root` is where `$ref` points into. */
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
  const short = key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME - 1)}…` : key;
  return PLAIN_NAME.test(key) ? short : JSON.stringify(short);
}

function typeOf(schema: unknown, root: Schema, depth: number): string {
  if (!isRecord(schema) || depth > DEEPEST) return "any";
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
      type.slice(0, MOST_CHOICES + 1).map((one) => ({ ...schema, type: one })),
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
  return NAMES.get(String(type)) ?? "any";
}

function objectType(schema: Schema, root: Schema, depth: number): string {
  const shown: string[] = [];
  for (const part of depth < DEEPEST ? parametersOf(schema, root, depth + 1) : []) {
    shown.push(shown.length < MOST_NESTED ? part : "…");
    if (shown.length > MOST_NESTED) break;
  }
  return shown.length === 0 ? "object" : `{${shown.join(", ")}}`;
}

function union(options: readonly unknown[], root: Schema, depth: number): string {
  const types = new Set(options.slice(0, MOST_CHOICES).map((option) => typeOf(option, root, depth + 1)));
  if (types.has("any")) return "any";
  return [...types].join(" | ") + (options.length > MOST_CHOICES ? " | …" : "");
}

function choicesOf(choices: readonly unknown[]): string {
  const shown = choices.slice(0, MOST_CHOICES).map(literal);
  return shown.join(" | ") + (choices.length > MOST_CHOICES ? " | …" : "");
}

function literal(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > LONGEST_CHOICE ? `${value.slice(0, LONGEST_CHOICE - 1)}…` : value);
  }
  return typeof value === "object" && value !== null ? "object" : String(value);
}

/** Only within the schema itself: a `$ref` never makes anyone fetch anything. */
function refOf(schema: Schema, root: Schema): Schema | undefined {
  const ref = own(schema, "$ref");
  if (typeof ref !== "string" || !ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const step of ref.slice(2).split("/").slice(0, 8)) {
    if (!isRecord(at)) return undefined;
    at = own(at, step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return isRecord(at) ? at : undefined;
}
