/** Answers in the form of the stateless era: results that say what they are, errors with the codes it knows. Changes nothing else in them. */
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import { CACHEABLE, META, MISSING_CAPABILITY } from "../../rpc/era-2026/names.ts";
import { errorOf, INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, members, withFirst, withMember } from "../../rpc/slice.ts";

const COMPLETE = toRaw("complete");
/** Only we ask questions: whoever else says so is not understood that way. */
const QUESTION = toRaw("input_required");
const SERVER = toRaw(IMPLEMENTATION);
/** Who answers, where nobody else does. */
export const OWN_META = joinObject([[META.server, SERVER]]);

/** A member as it is written into an object. */
const member = (key: string, value: Raw): Buffer => joinObject([[key, value]]).subarray(1, -1);
const COMPLETE_MEMBER = member("resultType", COMPLETE);
const META_MEMBER = member("_meta", OWN_META);
/** Lists change at any time and depend on who asks: nobody may keep them who has not asked to be told. */
const TTL_MEMBER = member("ttlMs", toRaw(0));
const SCOPE_MEMBER = member("cacheScope", toRaw("private"));

const NOT_FOUND = -32002;
const FIRST_RESERVED = -32020;
const LAST_RESERVED = -32099;

/** What a result does not say of itself is said for it, before everything else: one copy, however large it is. */
export function complete(result: Raw, method: string): Raw {
  if (!isObject(result)) return result;
  const [type, meta, ttl, scope] = members(result, ["resultType", "_meta", "ttlMs", "cacheScope"]);
  const missing: Buffer[] = [];
  let own = result;
  if (!type) missing.push(COMPLETE_MEMBER);
  else if (type.equals(QUESTION)) own = withMember(own, "resultType", COMPLETE);
  if (!meta) missing.push(META_MEMBER);
  else if (isObject(meta) && !members(meta, [META.server])[0])
    own = withMember(own, "_meta", withMember(meta, META.server, SERVER));
  if (CACHEABLE.has(method)) {
    if (!ttl) missing.push(TTL_MEMBER);
    if (!scope) missing.push(SCOPE_MEMBER);
  }
  return missing.length > 0 ? withFirst(own, missing) : own;
}

/** An error as this client may read it. `lacks` tells which of some capabilities it did not declare. */
export function errorFor(reason: unknown, lacks: (required: object) => object | undefined): Raw {
  if (!(reason instanceof RpcError)) return errorOf(reason);
  const { code, message, data } = reason;
  // Only what a child wanted of this very client is this client's business.
  const required = (data as { requiredCapabilities?: unknown } | null | undefined)?.requiredCapabilities;
  const missing = typeof required === "object" && required !== null ? lacks(required) : undefined;
  if (missing) return toRaw({ code: MISSING_CAPABILITY, message, data: { requiredCapabilities: missing } });
  if (code === NOT_FOUND) return withMember(reason.raw, "code", toRaw(INVALID_PARAMS));
  if (code <= FIRST_RESERVED && code >= LAST_RESERVED)
    return withMember(reason.raw, "code", toRaw(INTERNAL_ERROR));
  return reason.raw;
}

/** The code of an error as written. */
export function codeOf(error: Raw): number {
  return Number((fromRaw(error) as { code?: unknown } | null)?.code);
}
