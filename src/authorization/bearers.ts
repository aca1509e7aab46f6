/** Authenticates access tokens. A token is verified once; its account and grant are checked at each use. */
import { type Account, type AccountDirectory, livePrincipal } from "../access/account.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Claims } from "./claims.ts";
import type { Grants } from "./grants.ts";
import type { Tokens } from "./tokens.ts";

export interface TokenHolder {
  readonly principal: Principal;
  readonly account: Account;
  readonly audience: readonly string[];
  readonly scopes: readonly string[];
}

export interface BearerParts {
  readonly tokens: Tokens;
  readonly grants: Pick<Grants, "isRevoked">;
  readonly accounts: Pick<AccountDirectory, "byId" | "byIdentity" | "ofIdentity">;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class Bearers {
  readonly #parts: BearerParts;
  readonly #now: () => number;

  constructor(parts: BearerParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** Returns undefined for an invalid token. Returns a promise only for a token that is not cached. */
  holderOf(token: string): TokenHolder | undefined | Promise<TokenHolder | undefined> {
    const cached = this.#parts.tokens.cached(token);
    return cached ? this.#holder(cached) : this.#check(token);
  }

  async #check(token: string): Promise<TokenHolder | undefined> {
    const claims = await this.#parts.tokens.check(token);
    if (claims) await this.#updateAccount(claims);
    return claims && this.#holder(claims);
  }

  /** Creates or updates the account of a token of an external issuer, with the groups in the token. */
  async #updateAccount({ issuer, subject, groups, email, emailVerified }: Claims): Promise<void> {
    if (issuer === undefined) return;
    const { accounts } = this.#parts;
    const known = accounts.byIdentity(issuer, subject);
    if (known && (groups === undefined || sameElements(known.groups, groups))) return;
    await accounts.ofIdentity({
      issuer,
      subject,
      ...(groups && { groups }),
      ...(email === undefined ? {} : { email, emailVerified: emailVerified ?? false }),
    });
  }

  #holder({ issuer, subject, client, grant, expiresAt, audience, scopes }: Claims): TokenHolder | undefined {
    const { accounts, grants } = this.#parts;
    const account = issuer === undefined ? accounts.byId(subject) : accounts.byIdentity(issuer, subject);
    if (!account || account.disabled || expiresAt <= this.#now()) return undefined;
    if (grant !== undefined && grants.isRevoked(grant)) return undefined;
    return { principal: livePrincipal(accounts, account.uuid, { client }), account, audience, scopes };
  }
}

function sameElements(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text) => b.includes(text));
}
