/** What a `requestState` is bound to: it is valid for one caller and one request only. */
import { createHash } from "node:crypto";
import { holderKey, type Principal } from "../../kernel/principal.ts";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import { sortedKeys } from "../../kernel/sorted-keys.ts";
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
  // A retry may write the same params in another order. Very large ones are compared as text.
  const same = hasManyValues(params) ? params.toString() : fromRaw(params);
  return createHash("sha256")
    .update(JSON.stringify([caller, method, same], sortedKeys))
    .digest("base64");
}
