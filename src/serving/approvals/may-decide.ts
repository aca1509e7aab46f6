/**
 * Who decides about a call: whom its rule names, and administrators always. Nobody decides about a call of their own,
 * but for administrators: they could change the rule as well, and a team with one of them could approve nothing. What
 * calls tools (a key with endpoints, an OAuth token) opens no admin API, so a model cannot say yes to itself.
 */
import { ROLES, type Role } from "../../access/account.ts";
import { has } from "../../access/may.ts";
import type { Approval } from "../../gateway/control.ts";
import type { Principal } from "../../kernel/principal.ts";

export function mayDecide(approval: Pick<Approval, "by" | "principal">, principal: Principal): boolean {
  if (has(principal, "admin")) return true;
  if (isAskers(approval, principal)) return false;
  const { roles = [], groups = [] } = approval.by;
  return (
    roles.some((role) => isRole(role) && has(principal, role)) ||
    groups.some((group) => principal.groups.includes(group))
  );
}

/** Whether it is a call of theirs. */
export function isAskers({ principal: asker }: Pick<Approval, "principal">, { id }: Principal): boolean {
  return asker.id === id;
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
