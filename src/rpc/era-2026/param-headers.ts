/**
 * Reads which parameters of a tool must be repeated in headers (`x-mcp-header` in the input schema). A tool
 * with an invalid declaration must not be offered.
 */
import { perObject } from "../../kernel/per-object.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { isArray, isObject, members } from "../slice.ts";

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const SIMPLE: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Members whose value is data, not schema. */
const DATA: ReadonlySet<string> = new Set(["default", "const", "enum", "examples"]);

export interface ParamHeader {
  /** In lower case. */
  readonly header: string;
  /** The names of the properties that lead to the value. */
  readonly path: readonly string[];
}

const NONE: readonly ParamHeader[] = [];

/** The headers that a tool definition declares, or the problem with them. */
export const paramHeaders = perObject(
  (definition: Raw): readonly ParamHeader[] | { readonly problem: string } => {
    if (!definition.includes(KEY)) return NONE;
    const { inputSchema } = fromRaw(definition) as { inputSchema?: unknown };
    const found = new Map<string, ParamHeader>();
    try {
      visit(inputSchema, [], found);
      return [...found.values()];
    } catch (error) {
      return { problem: (error as Error).message };
    }
  },
);

/** `path` is undefined if the node cannot be reached from the root by properties alone. */
function visit(node: unknown, path: readonly string[] | undefined, found: Map<string, ParamHeader>): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const element of node) visit(element, undefined, found);
    return;
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === KEY) take(node as Record<string, unknown>, path, found);
    else if (key === "properties" && typeof value === "object" && value !== null) {
      for (const [name, property] of Object.entries(value)) visit(property, path && [...path, name], found);
    } else if (!DATA.has(key)) visit(value, undefined, found);
  }
}

function take(
  schema: Record<string, unknown>,
  path: readonly string[] | undefined,
  found: Map<string, ParamHeader>,
): void {
  const name = schema[KEY];
  if (typeof name !== "string" || !TOKEN.test(name)) throw new Error(`${KEY} is not a header name`);
  if (!path || path.length === 0) throw new Error(`${KEY} "${name}" is not at a property of the arguments`);
  if (!SIMPLE.has(schema["type"])) throw new Error(`${KEY} "${name}" is at a property of no simple type`);
  const header = `mcp-param-${name.toLowerCase()}`;
  if (found.has(header)) throw new Error(`${KEY} "${name}" is there twice`);
  found.set(header, { header, path });
}

/** The value as text; undefined if there is none that can be sent in a header. */
export function valueAt(args: Raw, path: readonly string[]): string | undefined {
  let at: Raw | undefined = args;
  for (const name of path) if (at) [at] = members(at, [name]);
  if (!at || isObject(at) || isArray(at)) return undefined;
  const value = fromRaw(at);
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
