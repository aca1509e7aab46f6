/**
 * Reads members and elements of valid JSON without parsing it, and makes copies with one member changed.
 * Results share memory with the input: copy one (`kept`) before you store it.
 */
import { asRaw, plainText, type Raw, toLatin1 } from "../kernel/raw.ts";
import { SHORT } from "./short.ts";
import { endOfString, endOfValue } from "./value-end.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = asRaw(Buffer.from(","));
const OPEN = Buffer.from("{");
const CLOSE = Buffer.from("}");

/** Keys may come from outside, so the cache is limited. */
const MAX_KEYS = 64;
const keys = new Map<string, Buffer>();

function keyPart(key: string): Buffer {
  const known = keys.get(key);
  if (known) return known;
  const part = Buffer.from(`${JSON.stringify(key)}:`);
  if (keys.size < MAX_KEYS) keys.set(key, part);
  return part;
}

export function isObject(raw: Raw): boolean {
  return raw[skip(raw, 0)] === 0x7b;
}

export function isArray(raw: Raw): boolean {
  return raw[skip(raw, 0)] === 0x5b;
}

export function isString(raw: Raw): boolean {
  return raw[skip(raw, 0)] === QUOTE;
}

/** The values of these keys, in the same order. Of duplicate keys the last counts. */
export function members(raw: Raw, keys: readonly string[]): (Raw | undefined)[] {
  const found = keys.map((): Raw | undefined => undefined);
  eachMember(raw, (key, value, end) => {
    for (let k = 0; k < keys.length; k++) {
      if (isKey(raw, key, keys[k] as string)) found[k] = asRaw(raw.subarray(value, end));
    }
  });
  return found;
}

/** The value of one key. Of duplicate keys the last counts. */
export function member(raw: Raw, name: string): Raw | undefined {
  const from = valueAt(raw, name);
  return from < 0 ? undefined : asRaw(raw.subarray(from, foundEnd));
}

/** Where the value ends that `valueAt` found last: to walk through a large one again takes milliseconds. */
let foundEnd = 0;

/**
 * The position of the value of a key in the object at `at`; -1 if there is none. Of duplicate keys the last
 * counts.
 */
export function valueAt(raw: Raw, name: string, at = 0): number {
  let found = -1;
  let i = skip(raw, at);
  if (raw[i] !== 0x7b) return found;
  i = skip(raw, i + 1);
  while (raw[i] === QUOTE) {
    const value = skip(raw, skip(raw, endOfString(raw, i)) + 1);
    const end = endOfValue(raw, value);
    if (isKey(raw, i, name)) {
      found = value;
      foundEnd = end;
    }
    i = skip(raw, end);
    if (raw[i] !== 0x2c) return found;
    i = skip(raw, i + 1);
  }
  return found;
}

/**
 * Whether the key may occur at any depth. For a rare key this search is much cheaper than walking through the
 * JSON.
 */
export function mayHave(raw: Raw, key: string): boolean {
  return mentions(raw, "\\", `"${key}"`);
}

/** Whether the JSON text contains one of these strings. */
export function mentions(raw: Raw, these: string, those = these): boolean {
  const text = raw.length <= SHORT ? toLatin1(raw) : raw;
  return text.includes(these) || (those !== these && text.includes(those));
}

/** All members as written, including duplicates. */
export function entries(raw: Raw): [string, Raw][] {
  const found: [string, Raw][] = [];
  eachMember(raw, (key, value, end) => {
    found.push([textAt(raw, key), asRaw(raw.subarray(value, end))]);
  });
  return found;
}

/** The decoded string or key whose opening quote is at this position. */
export function textAt(raw: Raw, quote: number): string {
  const end = endOfString(raw, quote);
  return plainText(raw, quote, end) ?? (JSON.parse(raw.toString("utf8", quote, end)) as string);
}

/** The first characters of that string, without reading the rest: a name may be as long as a message. */
export function beginningAt(raw: Buffer, quote: number, most: number): string {
  // No character takes more than six bytes, so what the cut splits does not count.
  const [whole = ""] = WHOLE_CHARACTERS.exec(raw.toString("utf8", quote + 1, quote + 1 + 6 * most)) ?? [];
  const text = whole.includes("\\") ? (JSON.parse(`"${whole}"`) as string) : whole;
  return text.slice(0, most);
}

const WHOLE_CHARACTERS = /^(?:[^\\"]|\\u[\da-f]{4}|\\[^u])*/i;

/** The first `most` elements. */
export function elements(raw: Raw, most = Number.POSITIVE_INFINITY): Raw[] {
  const found: Raw[] = [];
  eachElement(raw, (from, end) => found.push(asRaw(raw.subarray(from, end))) < most);
  return found;
}

/**
 * Calls `visit` with the start and the end of each element, until it returns false. `at` is the position of
 * the array.
 */
export function eachElement(raw: Raw, visit: (from: number, end: number) => unknown, at = 0): void {
  let i = skip(raw, at);
  if (raw[i] !== 0x5b) return;
  i = skip(raw, i + 1);
  while (raw[i] !== 0x5d) {
    const end = endOfValue(raw, i);
    if (visit(i, end) === false) return;
    i = skip(raw, end);
    if (raw[i] !== 0x2c) return;
    i = skip(raw, i + 1);
  }
}

/**
 * A copy of an object with one member replaced, added or (if undefined) removed. Duplicates of the key are
 * removed; all other bytes stay.
 */
export function withMember(raw: Raw, key: string, value: Raw | undefined): Raw {
  return rewritten(raw, key, value);
}

/**
 * Like `withMember`, and of every other key only the last member stays, so that every parser reads the same
 * values.
 */
export function withMemberDeduplicated(raw: Raw, key: string, value: Raw): Raw {
  return rewritten(raw, key, value, new Map());
}

interface Span {
  readonly key: number;
  readonly value: number;
  readonly end: number;
  /** It is the member to change. */
  readonly matches: boolean;
  /** The same key comes again later. */
  repeated: boolean;
}

/** `lasts` collects the last span of each key; without it, duplicates of other keys stay. */
function rewritten(raw: Raw, key: string, value: Raw | undefined, lasts?: Map<string, Span>): Raw {
  const spans: Span[] = [];
  let last = -1;
  eachMember(raw, (start, from, end) => {
    const matches = isKey(raw, start, key);
    const span = { key: start, value: from, end, matches, repeated: false };
    if (matches) last = spans.length;
    else if (lasts) {
      const name = textAt(raw, start);
      const before = lasts.get(name);
      if (before) before.repeated = true;
      lasts.set(name, span);
    }
    spans.push(span);
  });
  const first = spans[0];
  if (!first) return joinObject([[key, value]]);

  const parts: Buffer[] = [raw.subarray(0, first.key)];
  let before = -1;
  for (const [index, span] of spans.entries()) {
    if (span.repeated || (span.matches && (index !== last || value === undefined))) continue;
    if (before >= 0) parts.push(before === index - 1 ? raw.subarray(spans[before]?.end, span.key) : COMMA);
    if (span.matches && value !== undefined) parts.push(raw.subarray(span.key, span.value), value);
    else parts.push(raw.subarray(span.key, span.end));
    before = index;
  }
  if (last < 0 && value !== undefined) parts.push(Buffer.from(`,${JSON.stringify(key)}:`), value);
  parts.push(raw.subarray(spans.at(-1)?.end));
  return asRaw(Buffer.concat(parts));
}

/** A copy of an object with more members at the start. Each is given as JSON text `"key":value`. */
export function withFirst(raw: Raw, members: readonly Buffer[]): Raw {
  const open = skip(raw, 0) + 1;
  const parts: Buffer[] = [];
  for (const member of members) parts.push(parts.length === 0 ? OPEN : COMMA, member);
  if (raw[skip(raw, open)] !== 0x7d) parts.push(COMMA);
  parts.push(raw.subarray(open));
  return asRaw(Buffer.concat(parts));
}

/** Makes an object. Members that are undefined are left out. */
export function joinObject(members: readonly (readonly [string, Raw | undefined])[]): Raw {
  const parts: Buffer[] = [];
  for (const [key, value] of members) {
    if (value === undefined) continue;
    parts.push(parts.length === 0 ? OPEN : COMMA, keyPart(key), value);
  }
  if (parts.length === 0) parts.push(OPEN);
  parts.push(CLOSE);
  return asRaw(Buffer.concat(parts));
}

/** Whether the key whose opening quote is at `i` is this one, with or without escapes. */
export function isKey(b: Buffer, i: number, key: string): boolean {
  for (let k = 0; k < key.length; k++) {
    const c = b[i + 1 + k] as number;
    if (c === BACKSLASH || c >= 0x80) return beginningAt(b, i, key.length + 1) === key;
    if (c === QUOTE || c !== key.charCodeAt(k)) return false;
  }
  return b[i + 1 + key.length] === QUOTE;
}

/**
 * Calls `visit` with the positions of each member: the quote of its key, its value, and its end. `at` is the
 * position of the object.
 */
export function eachMember(raw: Raw, visit: (key: number, value: number, end: number) => void, at = 0): void {
  let i = skip(raw, at);
  if (raw[i] !== 0x7b) return;
  i = skip(raw, i + 1);
  while (raw[i] === QUOTE) {
    const value = skip(raw, skip(raw, endOfString(raw, i)) + 1);
    const end = endOfValue(raw, value);
    visit(i, value, end);
    i = skip(raw, end);
    if (raw[i] !== 0x2c) return;
    i = skip(raw, i + 1);
  }
}

/** The position of the next byte that is no white space. */
function skip(b: Buffer, i: number): number {
  while ((b[i] as number) <= 0x20) i++;
  return i;
}
