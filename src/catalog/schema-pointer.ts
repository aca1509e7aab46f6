/** Follows a `$ref` within a schema. Nothing is fetched. */
import { isRecord } from "../kernel/is-record.ts";

/** Undefined unless the reference is a JSON Pointer into the schema. */
export function targetOf(root: Readonly<Record<string, unknown>>, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = (isRecord(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
