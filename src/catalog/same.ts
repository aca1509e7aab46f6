/** Compares lists of tools, prompts or resources. Order and white space do not matter; every digit does. */
import type { Raw } from "../kernel/raw.ts";
import { elements, entries, isObject } from "../rpc/slice.ts";
import { isArray } from "./json-array.ts";

interface Entry {
  readonly name: string;
  readonly definition: Raw;
}

/** Deeper than any usual schema. Deeper values are equal only if their bytes are. */
const MAX_DEPTH = 100;

/** Whether both lists have the same names with the same definitions. Names are unique in each list. */
export function sameEntries(a: readonly Entry[] | undefined, b: readonly Entry[] | undefined): boolean {
  if (a === b) return true;
  if (!a || !b || a.length !== b.length) return false;
  const aligned = a.every((entry, at) => entry.name === b[at]?.name);
  const others = aligned ? undefined : new Map(b.map((entry) => [entry.name, entry]));
  return a.every((entry, at) => {
    const other = others ? others.get(entry.name) : b[at];
    return other !== undefined && sameJson(entry.definition, other.definition);
  });
}

/** Compares numbers as written: 1.0 and 1 differ. At worst that reports a change where there is none. */
export function sameJson(a: Raw, b: Raw, depth = MAX_DEPTH): boolean {
  if (a === b || a.equals(b)) return true;
  if (depth === 0) return false;
  if (isObject(a) && isObject(b)) return sameMembers(a, b, depth - 1);
  if (!isArray(a) || !isArray(b)) return false;
  const others = elements(b);
  const own = elements(a);
  return (
    own.length === others.length &&
    own.every((element, at) => sameJson(element, others[at] as Raw, depth - 1))
  );
}

function sameMembers(a: Raw, b: Raw, depth: number): boolean {
  const own = new Map(entries(a));
  const others = new Map(entries(b));
  if (own.size !== others.size) return false;
  for (const [key, value] of own) {
    const other = others.get(key);
    if (!other || !sameJson(value, other, depth)) return false;
  }
  return true;
}
