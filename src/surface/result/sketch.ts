/**
 * Makes a sketch of a large JSON value: its first items and keys, and the size of the rest. Reads the value
 * once and parses only what it keeps.
 */
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { beginningAt, eachElement, eachMember, textAt } from "../../rpc/slice.ts";

export type ValueKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export type Sketch =
  | { readonly kind: "plain"; readonly json: string }
  | { readonly kind: "string"; readonly head: string; readonly whole: boolean; readonly bytes: number }
  | {
      readonly kind: "array";
      readonly bytes: number;
      readonly count: number;
      readonly items: readonly Sketch[];
      /** The kinds of all items. */
      readonly kinds: readonly ValueKind[];
    }
  | {
      readonly kind: "object";
      readonly bytes: number;
      readonly count: number;
      readonly members: readonly (readonly [string, Sketch])[];
      /** Names of the next members. */
      readonly more: readonly string[];
    };

const MAX_ITEMS = 20;
const MAX_KEYS = 40;
const MAX_NAMES = 20;
const DEEPEST = 7;
/** In bytes, with escapes. */
const LONGEST_STRING = 2_400;
const LONGEST_KEY = 200;
const LONGEST_NUMBER = 40;
/** Limit of all parts, because a value may be wide at every level. */
const MAX_PARTS = 3_000;

/** The number of parts that may still be added. */
interface PartBudget {
  left: number;
}

export function sketchOf(raw: Raw): Sketch {
  return sketch(raw, 0, { left: MAX_PARTS });
}

function sketch(raw: Raw, depth: number, budget: PartBudget): Sketch {
  budget.left--;
  const kind = kindAt(raw, 0);
  if (kind === "object") return objectSketch(raw, depth, budget);
  if (kind === "array") return arraySketch(raw, depth, budget);
  if (kind === "string") return stringSketch(raw);
  const json = raw.toString("latin1", 0, LONGEST_NUMBER + 1).trim();
  if (json.length <= LONGEST_NUMBER) return { kind: "plain", json };
  return { kind: "string", head: json.slice(0, LONGEST_NUMBER), whole: false, bytes: raw.length };
}

function arraySketch(raw: Raw, depth: number, budget: PartBudget): Sketch {
  const items: Sketch[] = [];
  const kinds = new Set<ValueKind>();
  let count = 0;
  eachElement(raw, (from, end) => {
    kinds.add(kindAt(raw, from));
    if (count++ < MAX_ITEMS && mayDescend(depth, budget))
      items.push(sketch(part(raw, from, end), depth + 1, budget));
  });
  return { kind: "array", bytes: raw.length, count, items, kinds: [...kinds] };
}

function objectSketch(raw: Raw, depth: number, budget: PartBudget): Sketch {
  const members: (readonly [string, Sketch])[] = [];
  const more: string[] = [];
  let count = 0;
  eachMember(raw, (key, from, end) => {
    count++;
    const keeps = members.length < MAX_KEYS && more.length === 0 && mayDescend(depth, budget);
    if (!keeps && more.length >= MAX_NAMES) return;
    const name = beginningAt(raw, key, LONGEST_KEY);
    if (keeps) members.push([name, sketch(part(raw, from, end), depth + 1, budget)]);
    else more.push(name);
  });
  return { kind: "object", bytes: raw.length, count, members, more };
}

function mayDescend(depth: number, { left }: PartBudget): boolean {
  return depth < DEEPEST && left > 0;
}

function stringSketch(raw: Raw): Sketch {
  if (raw.length <= LONGEST_STRING)
    return { kind: "string", head: textAt(raw, 0), whole: true, bytes: raw.length - 2 };
  // The cut must be neither inside an escape nor inside a character.
  let end = 1;
  while (end < LONGEST_STRING) end += raw[end] === 0x5c ? (raw[end + 1] === 0x75 ? 6 : 2) : 1;
  while (((raw[end] as number) & 0xc0) === 0x80) end--;
  const head = JSON.parse(`${raw.toString("utf8", 0, end)}"`) as string;
  return { kind: "string", head: head.replace(/[\ud800-\udbff]$/, ""), whole: false, bytes: raw.length - 2 };
}

function part(raw: Raw, from: number, end: number): Raw {
  return asRaw(raw.subarray(from, end));
}

const KINDS: ReadonlyMap<number | undefined, ValueKind> = new Map([
  [0x7b, "object"],
  [0x5b, "array"],
  [0x22, "string"],
  [0x74, "boolean"],
  [0x66, "boolean"],
  [0x6e, "null"],
]);

/** The first byte of a JSON value determines its kind. */
function kindAt(raw: Raw, at: number): ValueKind {
  return KINDS.get(raw[at]) ?? "number";
}
