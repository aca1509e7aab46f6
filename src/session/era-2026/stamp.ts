/**
 * Converts results and errors to the form of the stateless era: adds required members to results, maps error
 * codes. Changes nothing else.
 */
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";
import { CACHEABLE, META, MISSING_CAPABILITY } from "../../rpc/era-2026/names.ts";
import { errorOf, INTERNAL_ERROR, INVALID_PARAMS, RpcError } from "../../rpc/rpc-error.ts";
import { isObject, joinObject, members, withFirst, withMember } from "../../rpc/slice.ts";

const COMPLETE = toRaw("complete");
/** Only MetaMCP sends this type, in `PendingReply.ask`. In a result of a child it is replaced. */
const INPUT_REQUIRED = toRaw("input_required");
const SERVER = toRaw(IMPLEMENTATION);
/** Names MetaMCP as the server, in results that name no other. */
export const OWN_META = joinObject([[META.server, SERVER]]);

/** Returns the JSON text `"key":value`. */
const member = (key: string, value: Raw): Buffer => joinObject([[key, value]]).subarray(1, -1);
const COMPLETE_MEMBER = member("resultType", COMPLETE);
const META_MEMBER = member("_meta", OWN_META);
/**
 * Lists can change at any time and depend on the client, so clients must not cache them without a
 * subscription.
 */
const TTL_MEMBER = member("ttlMs", toRaw(0));
const SCOPE_MEMBER = member("cacheScope", toRaw("private"));

const NOT_FOUND = -32002;
const FIRST_RESERVED = -32020;
const LAST_RESERVED = -32099;

/**
 * Adds the required members that a result lacks. They go first, so that even a large result is copied only
 * once.
 */
export function complete(result: Raw, method: string): Raw {
  if (!isObject(result)) return result;
  const [type, meta, ttl, scope] = members(result, ["resultType", "_meta", "ttlMs", "cacheScope"]);
  const missing: Buffer[] = [];
  let own = result;
  if (!type) missing.push(COMPLETE_MEMBER);
  else if (type.equals(INPUT_REQUIRED)) own = withMember(own, "resultType", COMPLETE);
  if (!meta) missing.push(META_MEMBER);
  else if (isObject(meta) && !members(meta, [META.server])[0])
    own = withMember(own, "_meta", withMember(meta, META.server, SERVER));
  if (CACHEABLE.has(method)) {
    if (!ttl) missing.push(TTL_MEMBER);
    if (!scope) missing.push(SCOPE_MEMBER);
  }
  return missing.length > 0 ? withFirst(own, missing) : own;
}

/**
 * Converts an error for this client. `lacks` returns those of the given capabilities that the client did not
 * declare.
 */
export function errorFor(reason: unknown, lacks: (required: object) => object | undefined): Raw {
  if (!(reason instanceof RpcError)) return errorOf(reason);
  const { code, message, data } = reason;
  // Reported only if this client lacks the capability; otherwise the error concerns another hop.
  const required = (data as { requiredCapabilities?: unknown } | null | undefined)?.requiredCapabilities;
  const missing = typeof required === "object" && required !== null ? lacks(required) : undefined;
  if (missing) return toRaw({ code: MISSING_CAPABILITY, message, data: { requiredCapabilities: missing } });
  if (code === NOT_FOUND) return withMember(reason.raw, "code", toRaw(INVALID_PARAMS));
  if (code <= FIRST_RESERVED && code >= LAST_RESERVED)
    return withMember(reason.raw, "code", toRaw(INTERNAL_ERROR));
  return reason.raw;
}

export function codeOf(error: Raw): number {
  return Number((fromRaw(error) as { code?: unknown } | null)?.code);
}
