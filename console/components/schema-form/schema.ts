/**
 * Reads JSON Schema (2020-12, draft-07 and older): resolves references and merges `allOf`. Invalid parts are
 * ignored, never an error.
 */
export type Schema = Readonly<Record<string, unknown>>;

/** Limit of nested references and `allOf`. A deeper schema is circular. */
const MAX_HOPS = 24;

export function resolve(schema: unknown, root: unknown, hops = 0): Schema {
  if (!isObject(schema) || hops > MAX_HOPS) return {};
  const { $ref, $dynamicRef, allOf, ...own } = schema;
  const reference = $ref ?? $dynamicRef;
  let result: Schema = own;
  if (typeof reference === "string")
    result = mergeSchemas(resolve(findReference(reference, root), root, hops + 1), result);
  if (Array.isArray(allOf))
    for (const part of allOf) result = mergeSchemas(result, resolve(part, root, hops + 1));
  return result;
}

/** Merges two schemas. Members and required names are combined; for other keywords the second schema wins. */
export function mergeSchemas(first: Schema, second: Schema): Schema {
  const properties = { ...objectAt(first, "properties") };
  for (const [name, schema] of Object.entries(objectAt(second, "properties"))) {
    const existing = Object.hasOwn(properties, name) ? properties[name] : undefined;
    Object.defineProperty(properties, name, {
      value: existing === undefined ? schema : { allOf: [existing, schema] },
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  const required = [...listAt(first, "required"), ...listAt(second, "required")];
  return {
    ...first,
    ...second,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(schema: Schema, key: string): Schema {
  const value = schema[key];
  return isObject(value) ? value : {};
}

export function listAt(schema: Schema, key: string): readonly unknown[] {
  const value = schema[key];
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textAt(schema: Schema, key: string): string | undefined {
  const value = schema[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberAt(schema: Schema, key: string): number | undefined {
  const value = schema[key];
  return typeof value === "number" ? value : undefined;
}

/** Resolves references within the schema only. Nothing is loaded. */
function findReference(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  const pointer = reference.slice(1);
  if (pointer === "" || pointer.startsWith("/")) {
    let at = root;
    for (const part of pointer.split("/").slice(1)) {
      const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
      at = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? (at as Schema)[key] : undefined;
    }
    return at;
  }
  if (!isObject(root)) return undefined;
  const all = [...Object.values(objectAt(root, "$defs")), ...Object.values(objectAt(root, "definitions"))];
  return all.find((one) => isObject(one) && (one["$anchor"] === pointer || one["$id"] === reference));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
