/** Computes a JSON Merge Patch (RFC 7396). Pure. */
export type Fields = Readonly<Record<string, unknown>>;

/** Undefined if both are equal. */
export function mergePatch(before: Fields, after: Fields): Fields | undefined {
  const changed = Object.keys({ ...before, ...after }).flatMap((name): readonly [string, unknown][] => {
    const [old, next] = [before[name], after[name]];
    if (next === undefined) return old === undefined ? [] : [[name, null]];
    if (JSON.stringify(old) === JSON.stringify(next)) return [];
    // A merge patch merges objects, so removed members must be null.
    if (isRecord(old) && isRecord(next)) return [[name, mergePatch(old, next) ?? {}]];
    return [[name, next]];
  });
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
