/** Whether arguments fit at first sight: told by the first letters of their values, without parsing them. Says yes, or nothing. */
import { isRecord } from "../kernel/is-record.ts";
import type { Raw } from "../kernel/raw.ts";
import { eachMember, isKey, isObject } from "../rpc/slice.ts";

export type Glance = (args: Raw) => boolean;

/** Words of a schema that refuse nothing. */
const HARMLESS: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "format",
  "$comment",
]);
const AT_THE_TOP: ReadonlySet<string> = new Set([
  ...HARMLESS,
  "$schema",
  "$defs",
  "definitions",
  "type",
  "properties",
  "required",
  "additionalProperties",
]);

const STRING = 1;
const BOOLEAN = 2;
const NULL = 4;
const OBJECT = 8;
const ARRAY = 16;
const INTEGER = 32;
const FRACTION = 64;
const ANY = 127;

const KINDS: Readonly<Record<string, number>> = {
  string: STRING,
  boolean: BOOLEAN,
  null: NULL,
  object: OBJECT,
  array: ARRAY,
  integer: INTEGER,
  number: INTEGER | FRACTION,
};

/** Those that were seen are noted in one number, a bit each. */
const MOST_REQUIRED = 31;
/** Each member is compared with each name: beyond this many of either, or with a longer key, a parser is quicker. */
const MOST_NAMES = 64;
const LONGEST_KEY = 256;

/** Undefined where more must be looked at than that. */
export function glanceOf(schema: Record<string, unknown>): Glance | undefined {
  const { type, properties = {}, required = [], additionalProperties = true } = schema;
  const plain = type === "object" && Object.keys(schema).every((word) => AT_THE_TOP.has(word));
  if (!plain || !isRecord(properties) || typeof additionalProperties !== "boolean") return undefined;
  if (!Array.isArray(required) || required.length > MOST_REQUIRED) return undefined;
  if (!required.every((name) => Object.hasOwn(properties, name))) return undefined;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const names = [...new Set(required as string[]), ...optional];
  if (names.length > MOST_NAMES) return undefined;
  const kinds = names.map((name) => kindsOf(properties[name]));
  const expected = { names, kinds, required: names.length - optional.length, additionalProperties };
  return (args) => fits(args, expected);
}

interface Expected {
  /** Those that are required first. */
  readonly names: readonly string[];
  /** What each may be; 0: not to be told at a glance. */
  readonly kinds: readonly number[];
  readonly required: number;
  readonly additionalProperties: boolean;
}

function fits(args: Raw, { names, kinds, required, additionalProperties }: Expected): boolean {
  if (!isObject(args)) return false;
  let seen = 0;
  let fit = true;
  let left = MOST_NAMES;
  eachMember(args, (key, from, end) => {
    fit &&= left-- > 0 && from - key <= LONGEST_KEY;
    if (!fit) return;
    let at = 0;
    while (at < names.length && !isKey(args, key, names[at] as string)) at++;
    if (at === names.length) fit = additionalProperties;
    else fit = (kindAt(args, from, end) & (kinds[at] as number)) !== 0;
    // A name may be there twice.
    if (at < required) seen |= 1 << at;
  });
  return fit && seen === 2 ** required - 1;
}

function kindsOf(schema: unknown): number {
  if (schema === true) return ANY;
  if (!isRecord(schema)) return 0;
  const { type, ...rest } = schema;
  if (!Object.keys(rest).every((word) => HARMLESS.has(word))) return 0;
  if (type === undefined) return ANY;
  return [type].flat().reduce((kinds: number, one) => kinds | (KINDS[one as string] ?? 0), 0);
}

function kindAt(b: Raw, from: number, end: number): number {
  switch (b[from] as number) {
    case 0x22:
      return STRING;
    case 0x7b:
      return OBJECT;
    case 0x5b:
      return ARRAY;
    case 0x74:
    case 0x66:
      return BOOLEAN;
    case 0x6e:
      return NULL;
    default:
      return numberAt(b, from, end);
  }
}

/** With an exponent it can be anything. */
function numberAt(b: Raw, from: number, end: number): number {
  let kind = INTEGER;
  for (let i = from; i < end; i++) {
    const c = b[i] as number;
    if (c === 0x2e) kind = FRACTION;
    else if ((c | 0x20) === 0x65) return 0;
  }
  return kind;
}
