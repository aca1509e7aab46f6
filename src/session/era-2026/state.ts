/** What a `requestState` is bound to: it is valid for one caller and one request only. */
import { createHash } from "node:crypto";
import { holderKey, type Principal } from "../../kernel/principal.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { hasManyValues } from "../../rpc/many-values.ts";
import { withMember } from "../../rpc/slice.ts";

/** Only requests with the same key may retry a parked call. */
export function callerKey(endpoint: string, principal: Principal, session?: string): string {
  return JSON.stringify([endpoint, holderKey(principal), session]);
}

/** Returns a hash of what must be the same in the retry: caller, method and params. */
export function bindingOf(caller: string, method: string, bare: Raw): string {
  // `_meta` differs between attempts: each has its own progress token and trace.
  const params = withMember(bare, "_meta", undefined);
  const same = hasManyValues(params) ? params.toString() : sorted(fromRaw(params));
  return createHash("sha256")
    .update(JSON.stringify([caller, method, same]))
    .digest("base64");
}

/**
 * Sorts keys, so that a retry may write the same params in another order. Very large params are compared as
 * text.
 */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
