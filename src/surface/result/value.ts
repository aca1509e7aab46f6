/** What a tool's result says, as one JSON value: what programs and chains work with. Images and files are no part of it. */
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isObject, member, members, textAt } from "../../rpc/slice.ts";
import { isBlock } from "./block.ts";
import { jsonIn } from "./json-text.ts";

const NULL = toRaw(null);
const TEXT = toRaw("text");
const QUOTE = 0x22;
/** No other word begins like this. */
const TRUE = 0x74;
const PARTS = ["structuredContent", "content", "isError", "_meta"] as const;
const BLOCK = ["type", "text"] as const;
/** By the first byte inside of the quotes; a backslash may hide anything. */
const MAY_BEGIN_JSON = new Uint8Array(256);
for (const c of Buffer.from(' \\{["-0123456789tfn')) MAY_BEGIN_JSON[c] = 1;

export interface ResultParts {
  /** `structuredContent`, else the text as JSON where it is JSON, else the text. */
  readonly value: Raw;
  /** The blocks that are no text, as they were written; broken ones are left out. */
  readonly blocks: readonly Raw[];
  readonly failed: boolean;
  readonly meta: Raw | undefined;
}

/** `plain`: a text is a text, whatever it looks like. */
export function partsOf(result: Raw, { plain = false } = {}): ResultParts {
  const [structured, content, isError, meta] = members(result, PARTS);
  const texts: Raw[] = [];
  const blocks: Raw[] = [];
  for (const block of content ? elements(content) : []) {
    const text = textIn(block);
    if (text) texts.push(text);
    else if (isBlock(block)) blocks.push(block);
  }
  const failed = isError?.[0] === TRUE;
  const usable = structured && structured[0] !== NULL[0] ? structured : undefined;
  const about = meta && isObject(meta) ? meta : undefined;
  return { value: usable ?? valueIn(texts, plain), blocks, failed, meta: about };
}

export function textsOf(result: Raw): readonly string[] {
  const content = member(result, "content");
  return content
    ? elements(content)
        .flatMap((block) => textIn(block) ?? [])
        .map((text) => textAt(text, 0))
    : [];
}

/** A text that cannot be JSON is its own value, as it is written. */
function valueIn(texts: readonly Raw[], plain: boolean): Raw {
  const [first] = texts;
  if (!first) return NULL;
  if (texts.length > 1) return toRaw(texts.map((text) => textAt(text, 0)).join("\n"));
  if (plain || MAY_BEGIN_JSON[first[1] as number] === 0) return first;
  return jsonIn(textAt(first, 0)) ?? first;
}

/** The text of a text block, as it is written. */
export function textIn(block: Raw): Raw | undefined {
  const [type, text] = members(block, BLOCK);
  return text?.[0] === QUOTE && type?.equals(TEXT) ? text : undefined;
}
