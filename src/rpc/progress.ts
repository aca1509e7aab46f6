/** Progress tokens on their way through: callers choose them freely, so two may choose the same. Towards the other side ours stands in its place. */
import type { Raw } from "../kernel/raw.ts";
import { member, members, mentions, withMember } from "./slice.ts";

/** Letters of a key can be written otherwise only like this. */
const ESCAPE = "\\u";

/** A request's params with our token in them, and the caller's token as written. Undefined if no progress is asked for. */
export function mapProgress(params: Raw, token: Raw): { params: Raw; token: Raw } | undefined {
  if (!mentions(params, "progressToken", ESCAPE)) return undefined;
  const meta = member(params, "_meta");
  const [theirs] = meta ? members(meta, ["progressToken"]) : [];
  if (!meta || !theirs || !isToken(theirs)) return undefined;
  return { params: withMember(params, "_meta", withMember(meta, "progressToken", token)), token: theirs };
}

/** The token of a progress notification. */
export function progressToken(params: Raw): Raw | undefined {
  return member(params, "progressToken");
}

/** A progress notification's params in the caller's own token. */
export function restoreProgress(params: Raw, token: Raw): Raw {
  return withMember(params, "progressToken", token);
}

function isToken(raw: Raw): boolean {
  const c = raw[0] as number;
  return c === 0x22 || c === 0x2d || (c >= 0x30 && c <= 0x39);
}
