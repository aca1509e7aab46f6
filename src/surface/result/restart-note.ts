/**
 * Many clients do not show `_meta` to the model, so a text says too that the process of a server was
 * replaced.
 */
import { joinArray } from "../../catalog/json-array.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { RESTARTED, type Restarted } from "../../kernel/restarted.ts";
import { visible } from "../../kernel/visible.ts";
import { elements, isArray, isObject, member, mentions, withMember } from "../../rpc/slice.ts";

const LONGEST_REASON = 300;

/** Called for every result: one that does not mention it is not parsed. */
export function restartNote(server: string, result: Raw): string | undefined {
  if (!mentions(result, RESTARTED) || !isObject(result)) return undefined;
  const meta = member(result, "_meta");
  const written = meta && isObject(meta) ? member(meta, RESTARTED) : undefined;
  const { reason, note } = (written && isObject(written) ? fromRaw(written) : {}) as Partial<Restarted>;
  if (typeof reason !== "string" || typeof note !== "string") return undefined;
  return visible(`${server}: ${note} Reason: ${visible(reason, LONGEST_REASON)}`);
}

/** The result with a further text block at its end. */
export function withText(result: Raw, text: string | undefined): Raw {
  if (text === undefined || !isObject(result)) return result;
  const content = member(result, "content");
  const blocks = content && isArray(content) ? elements(content) : [];
  return withMember(result, "content", joinArray([...blocks, toRaw({ type: "text", text })]));
}
