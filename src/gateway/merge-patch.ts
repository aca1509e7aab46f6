/** JSON Merge Patch (RFC 7396). Pure; members that the patch does not name stay the same objects. */
import { isRecord } from "../kernel/is-record.ts";

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // An assignment to "__proto__" would set the prototype.
  return Object.fromEntries(merged);
}
