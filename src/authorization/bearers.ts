/** Who shows an access token. The token is checked once, the account behind it at each use. */
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

  /** Undefined for whoever shows no token that counts at this moment. A promise only for one that was not seen before. */
  holderOf(token: string): TokenHolder | undefined | Promise<TokenHolder | undefined> {
    const known = this.#parts.tokens.known(token);
    return known ? this.#holder(known) : this.#check(token);
  }

  async #check(token: string): Promise<TokenHolder | undefined> {
    const claims = await this.#parts.tokens.check(token);
    if (claims) await this.#introduce(claims);
    return claims && this.#holder(claims);
  }

  /** Who comes from elsewhere has an account from then on, in the groups that their issuer says. */
  async #introduce({ issuer, subject, groups, email, emailVerified }: Claims): Promise<void> {
    if (issuer === undefined) return;
    const { accounts } = this.#parts;
    const known = accounts.byIdentity(issuer, subject);
    if (known && (groups === undefined || sameTexts(known.groups, groups))) return;
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

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text) => b.includes(text));
}
