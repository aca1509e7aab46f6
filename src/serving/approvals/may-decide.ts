/**
 * Who may decide about a call: the people that its rule names, and all administrators. Nobody may decide
 * about their own call, except administrators: they could change the rule as well, and in a team with one
 * administrator nobody else could approve. Keys with endpoints and OAuth tokens have no access to the admin
 * API, so a model cannot approve its own call.
 */
import { isRole } from "../../access/account.ts";
import { has } from "../../access/may.ts";
import type { Approval } from "../../gateway/approval-control.ts";
import type { Principal } from "../../kernel/principal.ts";

export function mayDecide(approval: Pick<Approval, "by" | "principal">, principal: Principal): boolean {
  if (has(principal, "admin")) return true;
  if (isOwnCall(approval, principal)) return false;
  const { roles = [], groups = [] } = approval.by;
  return (
    roles.some((role) => isRole(role) && has(principal, role)) ||
    groups.some((group) => principal.groups.includes(group))
  );
}

/** Whether the principal made the call. */
export function isOwnCall({ principal: asker }: Pick<Approval, "principal">, { id }: Principal): boolean {
  return asker.id === id;
}
