/**
 * Adjusts references in tool schemas that are embedded in the OpenAPI document. `#` must then refer to the
 * new position of the schema.
 */
import { isRecord } from "../kernel/is-record.ts";

/** Keywords whose members are schemas with arbitrary names. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);
/** Keywords whose values are data, not schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "example"]);
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef"]);

/**
 * `top` is the new position of the schema, as a JSON Pointer that begins with `#`. References in a schema
 * with `$id` are relative to that schema, so it stays unchanged.
 */
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
