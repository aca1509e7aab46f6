/**
 * Reads a tool's result as one JSON value, for programs and chains. Images and files are returned as separate
 * blocks.
 */
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, isObject, member, members, textAt } from "../../rpc/slice.ts";
import { isBlock } from "./block.ts";
import { jsonIn } from "./json-text.ts";

const NULL = toRaw(null);
const TEXT = toRaw("text");
const QUOTE = 0x22;
/** `true` is the only JSON value that starts with this byte. */
const TRUE = 0x74;
const PARTS = ["structuredContent", "content", "isError", "_meta"] as const;
const BLOCK = ["type", "text"] as const;
/** For each first byte of a text: 1 if the text may be JSON. A backslash may stand for any character. */
const MAY_BEGIN_JSON = new Uint8Array(256);
for (const c of Buffer.from(' \\{["-0123456789tfn')) MAY_BEGIN_JSON[c] = 1;

export interface ResultParts {
  /** `structuredContent`, else the text parsed as JSON, else the text as a string. */
  readonly value: Raw;
  /** The blocks that are not text, as written. Malformed ones are left out. */
  readonly blocks: readonly Raw[];
  readonly failed: boolean;
  readonly meta: Raw | undefined;
}

/** `plain`: a text stays a string even if it is JSON. */
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

/** A single text that cannot be JSON is returned as written. */
function valueIn(texts: readonly Raw[], plain: boolean): Raw {
  const [first] = texts;
  if (!first) return NULL;
  if (texts.length > 1) return toRaw(texts.map((text) => textAt(text, 0)).join("\n"));
  if (plain || MAY_BEGIN_JSON[first[1] as number] === 0) return first;
  return jsonIn(textAt(first, 0)) ?? first;
}

/** Returns the text of a text block as a raw JSON string. */
export function textIn(block: Raw): Raw | undefined {
  const [type, text] = members(block, BLOCK);
  return text?.[0] === QUOTE && type?.equals(TEXT) ? text : undefined;
}
