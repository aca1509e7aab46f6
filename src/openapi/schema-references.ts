/** Schemas of tools stand deep in another document: a reference to the top of a schema must lead there, wherever that is. */
import { isRecord } from "../kernel/is-record.ts";

/** Their members are schemas, whatever they are called. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** What stands in them is data. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "example"]);
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef"]);

/** `top`: where the schema will stand, as a JSON Pointer that begins with `#`. A schema with an `$id` is its own top. */
export function movedSchema(schema: unknown, top: string): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => movedSchema(inner, top));
  if (!isRecord(schema) || typeof schema["$id"] === "string") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (VALUES.has(key)) return [key, value];
      if (REFERENCES.has(key)) return [key, movedReference(value, top)];
      if (!MAPS.has(key) || !isRecord(value)) return [key, movedSchema(value, top)];
      const inner = Object.entries(value).map(([name, one]) => [name, movedSchema(one, top)] as const);
      return [key, Object.fromEntries(inner)];
    }),
  );
}

function movedReference(reference: unknown, top: string): unknown {
  if (reference === "#") return top;
  return typeof reference === "string" && reference.startsWith("#/") ? top + reference.slice(1) : reference;
}
