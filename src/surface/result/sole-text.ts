/** The one text that says all there is in a result: for who reads it, which many servers write twice, once as structure. Cut as it is written, so that nothing is copied. */
import { isDeepStrictEqual } from "node:util";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { elements, entries, isObject, members, textAt } from "../../rpc/slice.ts";
import { jsonIn } from "./json-text.ts";
import { PAGE_BYTES, type ResultPage } from "./pages.ts";
import { textIn } from "./value.ts";

/** What else stands in a structure is in the preview. */
const MOST_BESIDE = 1_000;
const BACKSLASH = 0x5c;
const U = 0x75;
const PAIR = /^\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]/;

/** With its quotes; undefined where there is more to see, or nothing. */
export function soleText(result: Raw): Raw | undefined {
  const [structured, content] = members(result, ["structuredContent", "content"]);
  const [block, ...others] = content ? elements(content) : [];
  const text = block && others.length === 0 ? textIn(block) : undefined;
  if (!text) return undefined;
  return !structured || !isObject(structured) || saysTheSame(structured, text) ? text : undefined;
}

function saysTheSame(structured: Raw, text: Raw): boolean {
  if (entries(structured).some(([, value]) => value.equals(text)))
    return structured.length - text.length <= MOST_BESIDE;
  const json = jsonIn(textAt(text, 0));
  return (
    json !== undefined && (json.equals(structured) || isDeepStrictEqual(fromRaw(json), fromRaw(structured)))
  );
}

/** `offset`: in what stands between the quotes. Undefined where no page can begin. */
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

/** Of one character as it is written; a pair of surrogates is one. */
function lengthOf(inner: Buffer, at: number): number {
  const c = inner[at] as number;
  if (c === BACKSLASH) {
    if (inner[at + 1] !== U) return 2;
    return PAIR.test(inner.toString("latin1", at, at + 12)) ? 12 : 6;
  }
  return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/** Not where a character begins; what stands within the digits of an escape cannot be told from digits. */
function isInside(inner: Buffer, at: number): boolean {
  let slashes = 0;
  while (inner[at - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1 || ((inner[at] as number) & 0xc0) === 0x80;
}
