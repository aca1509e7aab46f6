/** A replacer for `JSON.stringify`: objects that differ only in the order of their members give one text. */
import { isRecord } from "./is-record.ts";

export function sortedKeys(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
