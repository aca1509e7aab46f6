/** What a tool's result says, as one JSON value: what programs and chains work with. Images and files are no part of it. */
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { elements, members, textAt } from "../../rpc/slice.ts";
import { jsonIn } from "./json-text.ts";

const NULL = toRaw(null);

export interface ResultParts {
  /** `structuredContent`, else the text as JSON where it is JSON, else the text. */
  readonly value: Raw;
  /** The blocks that are no text, as they were written. */
  readonly blocks: readonly Raw[];
  readonly failed: boolean;
  readonly meta: Raw | undefined;
}

/** `plain`: a text is a text, whatever it looks like. */
export function partsOf(result: Raw, { plain = false } = {}): ResultParts {
  const [structured, content, isError, meta] = members(result, [
    "structuredContent",
    "content",
    "isError",
    "_meta",
  ]);
  const texts: string[] = [];
  const blocks: Raw[] = [];
  for (const block of content ? elements(content) : []) {
    const text = textOf(block);
    if (text === undefined) blocks.push(block);
    else texts.push(text);
  }
  const failed = isError?.toString() === "true";
  const usable = structured && structured[0] !== 0x6e ? structured : undefined;
  return { value: usable ?? valueIn(texts, plain), blocks, failed, meta };
}

export function textsOf(result: Raw): readonly string[] {
  const [content] = members(result, ["content"]);
  return content ? elements(content).flatMap((block) => textOf(block) ?? []) : [];
}

function valueIn(texts: readonly string[], plain: boolean): Raw {
  const [first] = texts;
  if (first === undefined) return NULL;
  const text = texts.join("\n");
  return (texts.length === 1 && !plain ? jsonIn(text) : undefined) ?? toRaw(text);
}

function textOf(block: Raw): string | undefined {
  const [type, text] = members(block, ["type", "text"]);
  return text?.[0] === 0x22 && type?.toString() === '"text"' ? textAt(text, 0) : undefined;
}
