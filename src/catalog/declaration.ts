/**
 * Writes a tool as a TypeScript declaration, for a model that writes code. The length is bounded for any
 * schema, and no `$ref` is fetched.
 */
import { isRecord } from "../kernel/is-record.ts";
import { perObject } from "../kernel/per-object.ts";
import { fromRaw } from "../kernel/raw.ts";
import { member } from "../rpc/slice.ts";
import { withOptionalDefaults } from "./optional-defaults.ts";
import { targetOf } from "./schema-pointer.ts";
import { summarize } from "./summary.ts";
import type { Tool } from "./tool.ts";

const MAX_DEPTH = 8;
const MAX_KEYS = 100;
/** Limits the visited parts, because a schema that refers to itself never ends. */
const MAX_PARTS = 500;
const MAX_COMMENT_LENGTH = 160;
const MAX_LENGTH = 8_000;
const PLAIN_KEY = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const TYPE_NAMES: ReadonlyMap<unknown, string> = new Map([
  ["string", "string"],
  ["integer", "number"],
  ["number", "number"],
  ["boolean", "boolean"],
  ["null", "null"],
]);

type Schema = Readonly<Record<string, unknown>>;

interface Walk {
  /** The schema that `$ref` paths start at. */
  readonly root: Schema;
  /** How many more parts may be visited. */
  left: number;
  /** Schemas that are being written. If one of them is met again, it refers to itself and gets a name. */
  readonly open: Set<Schema>;
  readonly names: Map<Schema, string>;
  /** `type Name = …;` for each schema with a name. */
  readonly types: string[];
  readonly prefix: string;
}

/** Words that cannot be the name of a function. */
const RESERVED = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield".split(
    " ",
  ),
);

/**
 * `function name(args: {…}): Promise<…>`, with the descriptions of the inputs as comments. Made once, because
 * an unchanged tool stays the same object.
 */
export const declarationOf = perObject((tool: Tool): string => {
  const output = member(tool.definition, "outputSchema");
  const args = typesFrom(inputOf(tool), "Args");
  const result = output ? typesFrom(fromRaw(output), "Result") : { type: "unknown", types: [] };
  const name = functionName(tool.name);
  const types = [...args.types, ...result.types].map((type) => `${type}\n`).join("");
  const whole = `${types}function ${name}(args: ${args.type}): Promise<${result.type}>`;
  return whole.length <= MAX_LENGTH
    ? whole
    : `function ${name}(args: Record<string, unknown>): Promise<unknown>`;
});

/** A valid identifier, after the original name as a comment if they differ. */
function functionName(name: string): string {
  if (PLAIN_KEY.test(name) && !RESERVED.has(name)) return name;
  const plain = name.replaceAll(/[^\p{L}\p{N}_$]/gu, "_").replace(/^(?=\p{N})/u, "_");
  return `/* ${commentText(name)} */ ${plain}${RESERVED.has(plain) || plain === "" ? "_" : ""}`;
}

/** The type of the tool's `outputSchema`, if it has one. */
export function resultTypeOf({ definition }: Tool): string | undefined {
  const output = member(definition, "outputSchema");
  return output && typesFrom(fromRaw(output), "Result").type;
}

/** Inputs with a default are optional. */
function inputOf({ inputSchema }: Tool): unknown {
  try {
    return withOptionalDefaults(fromRaw(inputSchema) as Record<string, unknown>);
  } catch {
    return fromRaw(inputSchema);
  }
}

function typesFrom(
  schema: unknown,
  prefix: string,
): { readonly type: string; readonly types: readonly string[] } {
  if (!isRecord(schema)) return { type: "unknown", types: [] };
  const types: string[] = [];
  const walk = { root: schema, left: MAX_PARTS, open: new Set<Schema>(), names: new Map(), types, prefix };
  return { type: referred(schema, walk, 0), types };
}

/** The type of a referenced schema: inline, or a name if the schema refers to itself. */
function referred(schema: Schema, walk: Walk, depth: number): string {
  const { open, names, types, prefix } = walk;
  const known = names.get(schema);
  if (known !== undefined) return known;
  if (open.has(schema)) {
    const name = `${prefix}${names.size === 0 ? "" : names.size + 1}`;
    names.set(schema, name);
    return name;
  }
  open.add(schema);
  const type = typeOf(schema, walk, depth);
  open.delete(schema);
  const name = names.get(schema);
  if (name === undefined) return type;
  // TypeScript rejects a type that directly refers to itself.
  const empty = type.split(/ [|&] /).includes(name);
  types.push(`type ${name} = ${empty ? "unknown" : type};`);
  return name;
}

function list(schema: Schema, key: string): readonly unknown[] {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return Array.isArray(value) ? value.slice(0, MAX_KEYS) : [];
}

function typeOf(value: unknown, walk: Walk, depth: number): string {
  if (!isRecord(value) || depth > MAX_DEPTH || walk.left-- <= 0) return "unknown";
  const target = refOf(value, walk.root);
  if (target) return referred(target, walk, depth + 1);
  if (Object.hasOwn(value, "const")) return literal(value["const"]);
  if (list(value, "enum").length > 0) return union(list(value, "enum").map(literal));
  for (const key of ["anyOf", "oneOf"]) {
    const options = list(value, key);
    if (options.length > 0) return union(options.map((option) => typeOf(option, walk, depth + 1)));
  }
  const parts = list(value, "allOf").map((part) => typeOf(part, walk, depth + 1));
  const own = ownType(value, walk, depth);
  const all = [...parts, ...(own === "unknown" && parts.length > 0 ? [] : [own])];
  return [...new Set(all)].join(" & ");
}

function ownType(schema: Schema, walk: Walk, depth: number): string {
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one) => ownType({ ...schema, type: one }, walk, depth)));
  if (type === "array" || (type === undefined && schema["items"] !== undefined)) {
    const item = typeOf(schema["items"], walk, depth + 1);
    return /[ |&]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }
  if (type === "object" || (type === undefined && isRecord(schema["properties"])))
    return objectType(schema, walk, depth);
  return TYPE_NAMES.get(type) ?? "unknown";
}

function objectType(schema: Schema, walk: Walk, depth: number): string {
  const { properties, additionalProperties } = schema;
  const keys = isRecord(properties) ? Object.entries(properties).slice(0, MAX_KEYS) : [];
  const rest = isRecord(additionalProperties) ? typeOf(additionalProperties, walk, depth + 1) : "unknown";
  if (keys.length === 0) return additionalProperties === false ? "{}" : `Record<string, ${rest}>`;
  const required = new Set(list(schema, "required"));
  const shown = keys.map(([key, property]) => {
    const name = PLAIN_KEY.test(key) ? key : JSON.stringify(key);
    return `${commentOn(property)}${name}${required.has(key) ? "" : "?"}: ${typeOf(property, walk, depth + 1)}`;
  });
  return `{ ${shown.join("; ")} }`;
}

function commentOn(property: unknown): string {
  const text = isRecord(property) ? property["description"] : undefined;
  if (typeof text !== "string" || text === "") return "";
  return `/** ${commentText(summarize(text, MAX_COMMENT_LENGTH))} */ `;
}

/** Removes everything that would end the comment or the line. */
function commentText(text: string): string {
  return text.replaceAll("*/", "* /").replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

function union(types: readonly string[]): string {
  const all = new Set(types);
  return all.has("unknown") ? "unknown" : [...all].join(" | ");
}

function literal(value: unknown): string {
  return typeof value === "object" && value !== null ? "unknown" : JSON.stringify(value);
}

/** Resolves only references within the schema. */
function refOf({ $ref }: Schema, root: Schema): Schema | undefined {
  const target = typeof $ref === "string" ? targetOf(root, $ref) : undefined;
  return isRecord(target) ? target : undefined;
}
