/**
 * Finds the single text that contains everything in a result; many servers repeat it as structured content.
 * Pages are cut from the raw text, so that nothing is copied.
 */
import { isDeepStrictEqual } from "node:util";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { elements, entries, isObject, members, textAt } from "../../rpc/slice.ts";
import { jsonIn } from "./json-text.ts";
import { PAGE_BYTES, type ResultPage } from "./pages.ts";
import { textIn } from "./value.ts";

/** Structured content may have this many other bytes beside the text; the preview shows them. */
const MAX_OTHER_BYTES = 1_000;
const BACKSLASH = 0x5c;
const U = 0x75;
const SURROGATE_PAIR = /^\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]/;

/** Returns the text with its quotes; undefined if the result contains more, or no text. */
export function soleText(result: Raw): Raw | undefined {
  const [structured, content] = members(result, ["structuredContent", "content"]);
  const [block, ...others] = content ? elements(content) : [];
  const text = block && others.length === 0 ? textIn(block) : undefined;
  if (!text) return undefined;
  return !structured || !isObject(structured) || hasSameContent(structured, text) ? text : undefined;
}

function hasSameContent(structured: Raw, text: Raw): boolean {
  if (entries(structured).some(([, value]) => value.equals(text)))
    return structured.length - text.length <= MAX_OTHER_BYTES;
  const json = jsonIn(textAt(text, 0));
  return (
    json !== undefined && (json.equals(structured) || isDeepStrictEqual(fromRaw(json), fromRaw(structured)))
  );
}

/** `offset` counts from the first byte after the quote. Returns undefined if no page can start there. */
export function textPageAt(text: Raw, offset: number): ResultPage | undefined {
  const inner = text.subarray(1, -1);
  if (!(offset < inner.length) || isInside(inner, offset)) return undefined;
  let to = offset;
  for (let next = to; next < inner.length; to = next) {
    next += lengthOf(inner, next);
    if (next - offset > PAGE_BYTES) break;
  }
  return {
    text: JSON.parse(`"${inner.toString("utf8", offset, to)}"`) as string,
    mimeType: undefined,
    wholeBinary: false,
    next: to < inner.length ? to : undefined,
  };
}

/** The length of one character as written. An escaped surrogate pair is one character. */
function lengthOf(inner: Buffer, at: number): number {
  const c = inner[at] as number;
  if (c === BACKSLASH) {
    if (inner[at + 1] !== U) return 2;
    return SURROGATE_PAIR.test(inner.toString("latin1", at, at + 12)) ? 12 : 6;
  }
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/**
 * Whether a position is inside a character or right after a backslash. Positions within the digits of an
 * escape are not detected.
 */
function isInside(inner: Buffer, at: number): boolean {
  let slashes = 0;
  while (inner[at - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1 || ((inner[at] as number) & 0xc0) === 0x80;
}
