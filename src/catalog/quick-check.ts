/**
 * Checks arguments without parsing them, by the first byte of each value. True means valid; false means that
 * a full check is needed.
 */
import { isRecord } from "../kernel/is-record.ts";
import type { Raw } from "../kernel/raw.ts";
import { eachMember, isKey, isObject } from "../rpc/slice.ts";

export type QuickCheck = (args: Raw) => boolean;

/** Schema keywords that reject no value. */
const UNRESTRICTING: ReadonlySet<string> = new Set([
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
const TOP_LEVEL_KEYWORDS: ReadonlySet<string> = new Set([
  ...UNRESTRICTING,
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

const KIND_OF_TYPE: Readonly<Record<string, number>> = {
  string: STRING,
  boolean: BOOLEAN,
  null: NULL,
  object: OBJECT,
  array: ARRAY,
  integer: INTEGER,
  number: INTEGER | FRACTION,
};

/** Each required name that was seen sets one bit of a number. */
const MAX_REQUIRED = 31;
/** Each member is compared with each name, so beyond these limits a parser is faster. */
const MAX_NAMES = 64;
const MAX_KEY_LENGTH = 256;

/** Undefined if the schema has keywords that this check does not know. */
export function quickCheckOf(schema: Record<string, unknown>): QuickCheck | undefined {
  const { type, properties = {}, required = [], additionalProperties = true } = schema;
  const plain = type === "object" && Object.keys(schema).every((word) => TOP_LEVEL_KEYWORDS.has(word));
  if (!plain || !isRecord(properties) || typeof additionalProperties !== "boolean") return undefined;
  if (!Array.isArray(required) || required.length > MAX_REQUIRED) return undefined;
  if (!required.every((name) => Object.hasOwn(properties, name))) return undefined;
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const names = [...new Set(required as string[]), ...optional];
  if (names.length > MAX_NAMES) return undefined;
  const kinds = names.map((name) => kindsOf(properties[name]));
  const expected = { names, kinds, required: names.length - optional.length, additionalProperties };
  return (args) => fits(args, expected);
}

interface Expected {
  /** The required names come first. */
  readonly names: readonly string[];
  /** The allowed kinds of each name as a bit set; 0: needs the full check. */
  readonly kinds: readonly number[];
  readonly required: number;
  readonly additionalProperties: boolean;
}

function fits(args: Raw, { names, kinds, required, additionalProperties }: Expected): boolean {
  if (!isObject(args)) return false;
  let seen = 0;
  let fit = true;
  let left = MAX_NAMES;
  eachMember(args, (key, from, end) => {
    fit &&= left-- > 0 && from - key <= MAX_KEY_LENGTH;
    if (!fit) return;
    let at = 0;
    while (at < names.length && !isKey(args, key, names[at] as string)) at++;
    if (at === names.length) fit = additionalProperties;
    else fit = (kindAt(args, from, end) & (kinds[at] as number)) !== 0;
    // A bit set, not a counter, because a name may occur twice.
    if (at < required) seen |= 1 << at;
  });
  return fit && seen === 2 ** required - 1;
}

function kindsOf(schema: unknown): number {
  if (schema === true) return ANY;
  if (!isRecord(schema)) return 0;
  const { type, ...rest } = schema;
  if (!Object.keys(rest).every((word) => UNRESTRICTING.has(word))) return 0;
  if (type === undefined) return ANY;
  return [type].flat().reduce((kinds: number, one) => kinds | (KIND_OF_TYPE[one as string] ?? 0), 0);
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

/** Returns 0 for a number with an exponent, because it may be an integer or not. */
function numberAt(b: Raw, from: number, end: number): number {
  let kind = INTEGER;
  for (let i = from; i < end; i++) {
    const c = b[i] as number;
    if (c === 0x2e) kind = FRACTION;
    else if ((c | 0x20) === 0x65) return 0;
  }
  return kind;
}
