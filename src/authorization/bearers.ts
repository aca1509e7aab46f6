/** Authenticates access tokens. A token is verified once; its account and grant are checked at each use. */
import { type Account, type AccountDirectory, livePrincipal } from "../access/account.ts";
import type { KeyRing } from "../access/key-ring.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Claims } from "./claims.ts";
import type { Grants } from "./grants.ts";
import { SCOPE, type TokenFault } from "./resource.ts";
import type { Tokens } from "./tokens.ts";

export interface TokenHolder {
  readonly principal: Principal;
  /** Undefined for a machine client without owner. */
  readonly account: Account | undefined;
  /** Uuid of the only endpoint that the token opens. Undefined for a token of an external issuer. */
  readonly endpoint: string | undefined;
}

/** "no_endpoint": the token is valid, but there is no endpoint that takes it. */
export type Judged = TokenHolder | TokenFault | "no_endpoint";

/** The endpoint that a request names. */
export interface NamedEndpoint {
  readonly audience: string;
  /** It exists, is enabled and takes tokens. */
  readonly open: boolean;
}

export interface BearerParts {
  readonly tokens: Tokens;
  readonly grants: Pick<Grants, "isRevoked">;
  readonly accounts: Pick<AccountDirectory, "byId" | "byIdentity" | "ofIdentity">;
  readonly machines: Pick<KeyRing, "machineOf">;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export class Bearers {
  readonly #parts: BearerParts;
  readonly #now: () => number;
  /** Claims of external issuers whose account has been updated, or is being updated. */
  readonly #applied = new WeakMap<Claims, Promise<void> | "done">();

  constructor(parts: BearerParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** Returns a promise only for a token that is not cached, or that was not used for this gateway before. */
  holderOf(token: string, endpoint: NamedEndpoint): Judged | Promise<Judged> {
    const cached = this.#parts.tokens.cached(token);
    return cached ? this.#judge(cached, endpoint) : this.#check(token, endpoint);
  }

  async #check(token: string, endpoint: NamedEndpoint): Promise<Judged> {
    const claims = await this.#parts.tokens.check(token);
    return claims ? await this.#judge(claims, endpoint) : "invalid_token";
  }

  /**
   * A token that is meant for others says nothing about accounts here, so everything else is checked before
   * its account.
   */
  #judge(claims: Claims, endpoint: NamedEndpoint): Judged | Promise<Judged> {
    const account = this.#accountOf(claims);
    if (!claims.audience.includes(endpoint.audience) || account?.disabled || this.#isOver(claims))
      return "invalid_token";
    if (claims.machine) return this.#machine(claims);
    if (!claims.scopes.includes(SCOPE)) return "insufficient_scope";
    if (claims.issuer === undefined) return this.#holder(claims, account);
    // Anybody with a token of the issuer can choose the name, so it must not create an account.
    if (!endpoint.open) return "no_endpoint";
    const applied = this.#applied.get(claims) ?? this.#apply(claims);
    if (applied === "done") return this.#holder(claims, account);
    // Meanwhile the account may have been disabled, or the issuer removed.
    return applied.then(() => this.#judge(claims, endpoint));
  }

  /** Requests with the same token wait for one update. One that failed is tried again by the next request. */
  #apply(claims: Claims): Promise<void> {
    const applied = this.#updateAccount(claims);
    this.#applied.set(claims, applied);
    applied.then(
      () => this.#applied.set(claims, "done"),
      () => this.#applied.delete(claims),
    );
    return applied;
  }

  /** Creates or updates the account of a token of an external issuer, with the groups in the token. */
  async #updateAccount(claims: Claims): Promise<void> {
    const { issuer, subject, groups, email, emailVerified } = claims;
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

  #accountOf({ issuer, subject }: Claims): Account | undefined {
    const { accounts } = this.#parts;
    return issuer === undefined ? accounts.byId(subject) : accounts.byIdentity(issuer, subject);
  }

  #isOver({ expiresAt, grant, issuer }: Claims): boolean {
    const { grants, tokens } = this.#parts;
    if (issuer !== undefined && !tokens.trusts(issuer)) return true;
    return expiresAt <= this.#now() || (grant !== undefined && grants.isRevoked(grant));
  }

  /** Its scope does not matter: it may be left out, and there is only one. */
  #machine({ client, endpoint }: Claims): Judged {
    const machine = this.#parts.machines.machineOf(client);
    if (!machine || endpoint === undefined || !machine.opens(endpoint)) return "invalid_token";
    return { principal: machine.principal, account: machine.account, endpoint };
  }

  #holder({ client, issuer, endpoint }: Claims, account: Account | undefined): Judged {
    if (!account || account.disabled) return "invalid_token";
    const used = { client, ...(issuer === undefined ? {} : { issuer }) };
    return { principal: livePrincipal(this.#parts.accounts, account.uuid, used), account, endpoint };
  }
}

function sameElements(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text) => b.includes(text));
}
