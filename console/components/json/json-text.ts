/**
 * Reads JSON in its text form and finds members on demand. Numbers are not parsed, so they keep all digits,
 * and a text of ten megabytes costs only as much as the parts that are shown.
 */
export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

export interface Member extends Span {
  /** Name in an object, index in an array. */
  readonly key: string | number;
}

export type JsonKind = "object" | "array" | "string" | "number" | "word";

const QUOTE = 34;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Returns the span of the whole value; undefined if the text is not JSON. */
export function rootSpan(text: string): Span | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const start = skipSpace(text, 0);
  return { start, end: skipValue(text, start) };
}

export function kindOf(text: string, { start }: Span): JsonKind {
  switch (text.charCodeAt(start)) {
    case OPEN_OBJECT:
      return "object";
    case OPEN_ARRAY:
      return "array";
    case QUOTE:
      return "string";
    default:
      return /[-\d]/.test(text[start] ?? "") ? "number" : "word";
  }
}

/** Yields the members of an object or array. Each is searched for only when requested. */
export function* membersOf(text: string, span: Span): Generator<Member, void> {
  const isObject = text.charCodeAt(span.start) === OPEN_OBJECT;
  let at = skipSpace(text, span.start + 1);
  for (let index = 0; at < span.end - 1; index += 1) {
    let key: string | number = index;
    if (isObject) {
      const keyEnd = skipValue(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const end = skipValue(text, at);
    yield { key, start: at, end };
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
}

const MAX_COUNTED = 1000;
const MAX_COUNTED_CHARS = 100_000;

/** Returns the number of members; undefined if counting them would take too long. */
export function countMembers(text: string, span: Span): number | undefined {
  if (span.end - span.start > MAX_COUNTED_CHARS) return undefined;
  let count = 0;
  for (const _ of membersOf(text, span)) {
    count += 1;
    if (count > MAX_COUNTED) return undefined;
  }
  return count;
}

/** Writes a path as in code: `items[3]["odd key"]`; `$` for the root. */
export function pathText(path: readonly (string | number)[]): string {
  const text = path
    .map((key) => {
      if (typeof key === "number") return `[${key}]`;
      return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
    })
    .join("");
  return text === "" ? "$" : text.replace(/^\./, "");
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) <= 32) at += 1;
  return at;
}

function skipValue(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) return skipString(text, start);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return skipWord(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1;
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function skipString(text: string, start: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

function skipWord(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text[at] ?? "")) at += 1;
  return at;
}
