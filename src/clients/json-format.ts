/** Edits clients' JSON files, with or without comments. */
import { isDeepStrictEqual } from "node:util";
import { type Edit, editText, parseObject } from "../config/edit.ts";
import { isKeys, type Keys } from "../config/field.ts";
import type { Format } from "./format.ts";
import { valueAt } from "./servers.ts";

const EMPTY = "{}\n";

export const jsonFormat: Format = {
  parse: async ({ path, text }) => await parseObject(path, orEmpty(text)),
  put: async ({ path, text }, at, entry) =>
    await editText(path, orEmpty(text), (file) => editsFor(file, at, entry)),
  drop: async ({ path, text }, at) => await editText(path, text, () => [{ at, value: undefined }]),
};

function orEmpty(text: string): string {
  return text.trim() === "" ? EMPTY : text;
}

/** Changes only the differing keys of an existing entry. Otherwise adds the first missing key of the path. */
function editsFor(file: Keys, at: readonly string[], entry: Keys): readonly Edit[] {
  const existing = valueAt(file, at);
  if (isKeys(existing)) {
    const removed = Object.keys(existing).filter((key) => !Object.hasOwn(entry, key));
    const other = Object.entries(entry).filter(([key, value]) => !isDeepStrictEqual(existing[key], value));
    return [
      ...removed.map((key) => ({ at: [...at, key], value: undefined })),
      ...other.map(([key, value]) => ({ at: [...at, key], value })),
    ];
  }
  const known = at.findIndex((_, index) => valueAt(file, at.slice(0, index + 1)) === undefined);
  const depth = known < 0 ? at.length : known + 1;
  const value = at.slice(depth).reduceRight<unknown>((inner, key) => ({ [key]: inner }), entry);
  return [{ at: at.slice(0, depth), value }];
}
