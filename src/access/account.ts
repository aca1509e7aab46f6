/** Accounts of people. Kept as records of the store, looked up in memory: a request never asks the store. */
import type { Principal } from "../kernel/principal.ts";

/** The kind of record. */
export const ACCOUNT = "account";

/** Each has all rights of those after it. */
export const ROLES = ["admin", "editor", "viewer", "member"] as const;
export type Role = (typeof ROLES)[number];

export interface Account {
  readonly uuid: string;
  readonly email: string;
  readonly role: Role;
  readonly groups: readonly string[];
  readonly disabled: boolean;
  /** scrypt; absent where the account only logs in elsewhere, or was invited and has not come yet. */
  readonly password?: string;
  /** Who it is at an outside issuer. An account is never found by its e-mail address there. */
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** Of an outside identity: its issuer says that the address is theirs. */
  readonly emailVerified?: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What those who authenticate requests need of the accounts. */
export interface AccountDirectory {
  byId(uuid: string): Account | undefined;
  /** Of an account with a password here, or invited to have one. */
  byEmail(email: string): Account | undefined;
  byIdentity(issuer: string, subject: string): Account | undefined;
  /** Finds the account of an outside login, or makes one as `member`. */
  ofIdentity(identity: OutsideIdentity): Promise<Account>;
  /**
   * Checks a password. Undefined: wrong, whichever of both it was. Rejects with an `AccessError` "throttled" where too
   * many failed, by account and address.
   */
  withPassword(email: string, password: string, address: string): Promise<Account | undefined>;
  /** Runs when an account was made, changed or deleted. Returns what ends it. */
  onChange(listener: (uuid: string, account: Account | undefined) => void): () => void;
}

export interface OutsideIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** What the account has from now on; as it was unless given. */
  readonly groups?: readonly string[];
  readonly role?: Role;
}

/** When two addresses are the same. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase().normalize("NFC");
}

/**
 * Somebody who acts for an account, with a key or a client. Roles and groups are those of the account at the moment they
 * are looked at: a change counts at the next request, also in a session that is open.
 */
export function livePrincipal(
  accounts: Pick<AccountDirectory, "byId">,
  uuid: string,
  { most, ...came }: Pick<Principal, "key" | "client" | "tiers" | "actor"> & { readonly most?: Role } = {},
): Principal {
  const account = (): Account | undefined => {
    const found = accounts.byId(uuid);
    return found?.disabled ? undefined : found;
  };
  return {
    id: uuid,
    kind: "account",
    get name() {
      return accounts.byId(uuid)?.email ?? uuid;
    },
    get claimed() {
      const found = accounts.byId(uuid);
      return found !== undefined && !ownsAddress(found);
    },
    get roles() {
      const role = account()?.role;
      if (role === undefined) return [];
      return [most === undefined || ROLES.indexOf(most) < ROLES.indexOf(role) ? role : most];
    },
    get groups() {
      return account()?.groups ?? [];
    },
    ...came,
  };
}

export function accountPrincipal(account: Account): Principal {
  const { uuid, email, role, groups } = account;
  return { id: uuid, kind: "account", name: email, claimed: !ownsAddress(account), roles: [role], groups };
}

/** An address counts for who has a password here, or whose issuer says that it is theirs: anybody can claim one. */
export function ownsAddress({ identity, emailVerified }: Account): boolean {
  return !identity || emailVerified === true;
}
