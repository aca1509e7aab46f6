/** The id of the request that a message cancels. */
import { type IdKey, idKey } from "./id.ts";
import type { Malformed, Message } from "./message.ts";
import { members } from "./slice.ts";

export function cancelledId(message: Message | Malformed): IdKey | undefined {
  if (message.kind !== "notification" || message.method !== "notifications/cancelled") return undefined;
  const [id] = message.params ? members(message.params, ["requestId"]) : [];
  return id && idKey(id);
}
