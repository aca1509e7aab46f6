/** JSON Merge Patch (RFC 7396). Pure; what the patch does not name stays the same part. */
import { isRecord } from "../kernel/is-record.ts";

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // Not by assignment: a key "__proto__" is a key like any other.
  return Object.fromEntries(merged);
}
