/**
 * Reads the arguments of own tools. Unknown fields and wrong types are errors that a model can correct; null
 * means not given.
 */
import { type ErrorContext, MetaMcpError } from "../kernel/errors.ts";
import { LARGE_BYTES } from "../kernel/own-turn.ts";
import { type Raw, scalarOf } from "../kernel/raw.ts";
import { entries, isObject, isString } from "../rpc/slice.ts";

interface Property {
  /** Undefined allows any type. */
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly description?: string;
}

export interface Fields {
  readonly properties: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

interface BuiltinTool {
  readonly name: string;
  readonly inputSchema: Fields;
}

/**
 * Names are looked up, compared, recorded and quoted in errors, each time as a whole, so they may not have
 * the size of a document.
 */
const NAMES: ReadonlySet<string> = new Set([
  "server",
  "tool",
  "tool_id",
  "namespace",
  "name",
  "uri",
  "cursor",
]);
const TOO_LONG = `is too long: it may have at most ${LARGE_BYTES} bytes`;
const SHOWN_KEY = 100;

/** The arguments as written, keyed by name. */
export type Input = ReadonlyMap<string, Raw>;

export function readInput(tool: BuiltinTool, args: Raw | undefined): Input {
  return readFields(tool.inputSchema, args, { name: tool.name, context: { op: tool.name } });
}

export interface InputContext {
  /** The name of the tool or part, for the message. */
  readonly name: string;
  readonly context: ErrorContext;
}

export function readFields(fields: Fields, args: Raw | undefined, where: InputContext): Input {
  if (args && !isNull(args) && !isObject(args)) throw invalidInput(where, "the arguments must be an object");
  const given = new Map(args ? entries(args) : []);
  const { properties, required = [] } = fields;
  for (const [key, value] of given) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property)
      throw invalidInput(
        where,
        `there is no argument "${key.slice(0, SHOWN_KEY)}"; known: ${Object.keys(properties).join(", ")}`,
      );
    // Models that must fill in every field write null for omitted ones.
    if (isNull(value)) {
      given.delete(key);
      continue;
    }
    const problem = NAMES.has(key) && value.length > LARGE_BYTES ? TOO_LONG : wrongWith(property, value);
    if (problem) throw invalidInput(where, `"${key}" ${problem}`);
  }
  for (const key of required) if (!given.has(key)) throw invalidInput(where, `"${key}" is missing`);
  return given;
}

function wrongWith(property: Property, value: Raw): string | undefined {
  const { type, minimum = Number.NEGATIVE_INFINITY } = property;
  // Objects and arrays are checked by their first byte only, without parsing.
  if (type === "object") return isObject(value) ? undefined : "must be an object";
  if (type === "array") return value[0] === 0x5b ? undefined : "must be a list";
  if (type === "string" && !property.enum) return isString(value) ? undefined : "must be a string";
  if (type === undefined && !property.enum) return undefined;
  const parsed = scalarOf(value);
  if (property.enum) {
    return property.enum.includes(parsed as string)
      ? undefined
      : `must be one of ${property.enum.join(", ")}`;
  }
  if (type === "integer") {
    const fits = Number.isInteger(parsed) && (parsed as number) >= minimum;
    return fits ? undefined : `must be a whole number of at least ${minimum}`;
  }
  if (type === "boolean") return typeof parsed === "boolean" ? undefined : "must be true or false";
  return typeof parsed === type ? undefined : `must be a ${type}`;
}

function isNull(value: Raw): boolean {
  return value[0] === 0x6e;
}

function invalidInput({ name, context }: InputContext, problem: string): MetaMcpError {
  return new MetaMcpError("validation_input", `${name}: ${problem}.`, context);
}
