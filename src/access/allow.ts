/** Decides whether an account may use an endpoint. */
import { type Account, accountPrincipal, emailKey, isRole, ownsAddress } from "./account.ts";
import { has } from "./may.ts";

/** Allows accounts that match one of the lists. If all lists are empty, no account is allowed. */
export interface Allow {
  /** Uuids or e-mail addresses. */
  readonly users?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** Each also allows roles with more rights. */
  readonly roles?: readonly string[] | undefined;
}

export function isAllowed(account: Account, allow: Allow | undefined): boolean {
  if (!allow) return true;
  const { users = [], groups = [], roles = [] } = allow;
  return (
    users.some((named) => isNamed(account, named)) ||
    groups.some((group) => account.groups.includes(group)) ||
    roles.some((role) => isRole(role) && has(accountPrincipal(account), role))
  );
}

/** `named` is a uuid or an e-mail address. */
export function isNamed(account: Account, named: string): boolean {
  if (named.toLowerCase() === account.uuid) return true;
  return ownsAddress(account) && emailKey(named) === emailKey(account.email);
}
