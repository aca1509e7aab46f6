/** The result of a tool as plain JSON: what it has structured, else its content. What the tool itself calls an error is a problem. */
import { Problem } from "../admin/problem.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { elements, isArray, isObject, joinObject, members } from "../rpc/slice.ts";

const LONGEST_DETAIL = 2_000;

/** Throws Problem where the tool reports a failure. */
export function plainResult(result: Raw): Raw {
  const [content, structured, failed] = members(result, ["content", "structuredContent", "isError"]);
  if (failed?.toString() === "true") throw ownError(content, structured);
  return structured && isObject(structured) ? structured : joinObject([["content", content ?? EMPTY]]);
}

const EMPTY = Buffer.from("[]") as Raw;

function ownError(content: Raw | undefined, structured: Raw | undefined): Problem {
  const detail = textsIn(content).join("\n").slice(0, LONGEST_DETAIL);
  return new Problem(422, detail || "the tool failed and did not say why", {
    title: "The tool failed",
    more: {
      code: "execution_failed",
      ...readable("content", content),
      ...readable("structuredContent", structured),
    },
  });
}

/** Left out where it would take long to read: the detail has the texts. */
function readable(name: string, written: Raw | undefined): object {
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
