/**
 * Whether a principal that was let in before may use an endpoint now. Does not check credentials: whoever
 * loses one is disconnected.
 */
import type { AccountDirectory } from "../../access/account.ts";
import { isAllowed } from "../../access/allow.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { Principal } from "../../kernel/principal.ts";

export function mayStillUse(
  { object }: CompiledEndpoint,
  { kind, id, key, client, actor }: Principal,
  accounts: Pick<AccountDirectory, "byId">,
): boolean {
  const { access } = object.spec;
  if (access.public) return true;
  if (kind === "anonymous") return false;
  // An administrator who tries a call as somebody else.
  if (actor) return true;
  // A machine client has both: it shows tokens.
  if (client === undefined ? key && !access.keys : !access.oauth) return false;
  if (kind !== "account") return true;
  const account = accounts.byId(id);
  return account !== undefined && !account.disabled && isAllowed(account, access.allow);
}
