/**
 * Finds a key that occurs twice in one map of a YAML document. The parser's own check compares all keys with
 * each other, which takes minutes for a long map.
 */
import type { Node, Range } from "yaml";

export const REPEATED_KEY = "Map keys must be unique";

/** Returns the offset of the second key, or undefined. */
export async function repeatedKeyIn(contents: unknown): Promise<number | undefined> {
  const { isScalar, visit } = await import("yaml");
  let found: Range | null | undefined;
  visit((contents ?? null) as Node | null, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found?.[0];
}
