/**
 * Converts the result of a tool to plain JSON: its structured content, or else its content. An error result
 * becomes a problem.
 */
import { Problem } from "../admin/problem.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { elements, isArray, isObject, joinObject, members } from "../rpc/slice.ts";

const LONGEST_DETAIL = 2_000;

/** Throws Problem if the tool reports an error. */
export function plainResult(result: Raw): Raw {
  const [content, structured, failed] = members(result, ["content", "structuredContent", "isError"]);
  if (failed?.toString() === "true") throw toolError(content, structured);
  return structured && isObject(structured) ? structured : joinObject([["content", content ?? EMPTY]]);
}

const EMPTY = Buffer.from("[]") as Raw;

function toolError(content: Raw | undefined, structured: Raw | undefined): Problem {
  const detail = textsIn(content).join("\n").slice(0, LONGEST_DETAIL);
  return new Problem(422, detail || "the tool failed and did not say why", {
    title: "The tool failed",
    more: {
      code: "execution_failed",
      ...parsedMember("content", content),
      ...parsedMember("structuredContent", structured),
    },
  });
}

/** Omits values that would take long to parse. The detail contains their texts. */
function parsedMember(name: string, written: Raw | undefined): object {
  return written && !hasManyValues(written) ? { [name]: fromRaw(written) } : {};
}

function textsIn(content: Raw | undefined): readonly string[] {
  if (!content || !isArray(content)) return [];
  return elements(content).flatMap((block) => {
    const [text] = isObject(block) ? members(block, ["text"]) : [];
    const value = text && fromRaw(text);
    return typeof value === "string" ? [value] : [];
  });
}
