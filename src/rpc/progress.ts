/**
 * Maps progress tokens. Two callers may choose the same token, so the other side gets a token of ours
 * instead.
 */
import type { Raw } from "../kernel/raw.ts";
import { member, members, mentions, withMember } from "./slice.ts";

/**
 * The only other way to write ASCII letters of a key. Without its backslash, because a text may consist of
 * escapes, and a search stops at each first letter.
 */
const ESCAPE = "u00";

/**
 * Returns the params with our token, and the caller's token as written; undefined if the caller asks for no
 * progress.
 */
export function mapProgress(params: Raw, token: Raw): { params: Raw; token: Raw } | undefined {
  if (!mentions(params, "progressToken", ESCAPE)) return undefined;
  const meta = member(params, "_meta");
  const [theirs] = meta ? members(meta, ["progressToken"]) : [];
  if (!meta || !theirs || !isToken(theirs)) return undefined;
  return { params: withMember(params, "_meta", withMember(meta, "progressToken", token)), token: theirs };
}

export function progressToken(params: Raw): Raw | undefined {
  return member(params, "progressToken");
}

/** Returns the params of a progress notification with the caller's own token. */
export function restoreProgress(params: Raw, token: Raw): Raw {
  return withMember(params, "progressToken", token);
}

function isToken(raw: Raw): boolean {
  const c = raw[0] as number;
  return c === 0x22 || c === 0x2d || (c >= 0x30 && c <= 0x39);
}
