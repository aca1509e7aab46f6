/** Accounts and the principals made from them. Requests look accounts up in memory, never in the store. */
import type { Principal } from "../kernel/principal.ts";

/** The kind of record. */
export const ACCOUNT = "account";

/** Each role has all rights of the roles after it. */
export const ROLES = ["admin", "editor", "viewer", "member"] as const;
export type Role = (typeof ROLES)[number];

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}

export interface Account {
  readonly uuid: string;
  readonly email: string;
  readonly role: Role;
  readonly groups: readonly string[];
  /** By an administrator, or because it is suspended. */
  readonly disabled: boolean;
  /**
   * The identity provider no longer lets the person in. Ends with the next login there. Not set if an
   * administrator disabled the account.
   */
  readonly suspended?: true;
  /**
   * scrypt hash. Absent if the account logs in at an identity provider, or has not accepted its invitation.
   */
  readonly password?: string;
  /**
   * Its identity at an external issuer. Such an account is found only by issuer and subject, never by e-mail
   * address.
   */
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** For an external identity: the issuer has verified the address. */
  readonly emailVerified?: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The functions of the accounts that authentication needs. */
export interface AccountDirectory {
  byId(uuid: string): Account | undefined;
  /** Only accounts without external identity. */
  byEmail(email: string): Account | undefined;
  byIdentity(issuer: string, subject: string): Account | undefined;
  /** Finds and updates the account of an external login, or creates one with the role `member`. */
  ofIdentity(identity: ExternalIdentity): Promise<Account>;
  /**
   * Checks a password. Returns undefined if address or password is wrong. Rejects with an `AccessError`
   * "throttled" after too many failures of the account or the network address. `refused` gets the reason,
   * which the person must not learn.
   */
  withPassword(
    email: string,
    password: string,
    address: string,
    refused?: (reason: string) => void,
  ): Promise<Account | undefined>;
  /** Whether people can log in with passwords. If not, `withPassword` rejects with "passwords_off". */
  readonly takesPasswords: boolean;
  /** Runs when an account was created, changed or deleted. Returns a function that unsubscribes. */
  onChange(listener: (uuid: string, account: Account | undefined) => void): () => void;
}

export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  /** Groups and role replace those of the account if they are given. */
  readonly groups?: readonly string[];
  readonly role?: Role;
}

/** Normalizes an address: equal keys mean the same address. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase().normalize("NFC");
}

/**
 * A principal that acts for an account, with a key or a client. Its getters read the current roles and groups
 * of the account, so a change counts from the next request on, even in open sessions.
 */
export function livePrincipal(
  accounts: Pick<AccountDirectory, "byId">,
  uuid: string,
  {
    maxRole,
    ...fields
  }: Pick<Principal, "key" | "client" | "issuer" | "tiers" | "actor"> & {
    readonly maxRole?: Role;
  } = {},
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
      return [maxRole === undefined || ROLES.indexOf(maxRole) < ROLES.indexOf(role) ? role : maxRole];
    },
    get groups() {
      return account()?.groups ?? [];
    },
    ...fields,
  };
}

export function accountPrincipal(account: Account): Principal {
  const { uuid, email, role, groups } = account;
  return { id: uuid, kind: "account", name: email, claimed: !ownsAddress(account), roles: [role], groups };
}

/**
 * Whether the address is proven: accounts without external identity, or verified by the issuer. Anybody can
 * claim an address elsewhere.
 */
export function ownsAddress({ identity, emailVerified }: Account): boolean {
  return !identity || emailVerified === true;
}
