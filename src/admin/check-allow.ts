/** Refuses names in `access.allow` that nobody has: a typing error would take rights away silently. */
import { type Account, isRole, ROLES } from "../access/account.ts";
import { type Allow, isNamed } from "../access/allow.ts";
import { invalid } from "../gateway/refusal.ts";

export interface KnownPeople {
  readonly accounts: Iterable<Account>;
  /** Accounts come with the first login at an identity provider, so any address may belong to somebody. */
  readonly comeLater: boolean;
}

/** Names that were there before stay allowed: their account may have been deleted meanwhile. */
export function checkAllow(people: KnownPeople, before: Allow | undefined, after: Allow | undefined): void {
  const accounts = [...people.accounts];
  const unknown = (
    list: "users" | "roles",
    isKnown: (name: string) => boolean,
    says: (name: string) => string,
  ) =>
    [...(after?.[list] ?? []).entries()]
      .filter(([, name]) => !before?.[list]?.includes(name) && !isKnown(name))
      .map(([at, name]) => ({ path: `/access/allow/${list}/${at}`, message: says(name.slice(0, 128)) }));
  const problems = [
    ...unknown(
      "users",
      (name) => people.comeLater || accounts.some((account) => isNamed(account, name)),
      (name) => `there is no account "${name}": invite the person first`,
    ),
    ...unknown("roles", isRole, () => `must be one of ${ROLES.join(", ")}`),
  ];
  if (problems.length > 0) throw invalid(problems);
}
