/** Checks access tokens: our own, and those of issuers that an administrator configured. What was checked is remembered, so that most requests wait for nothing. */
import { createHash } from "node:crypto";
import type { JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import { type Claims, claimsOf } from "./claims.ts";
import { type Fetch, issuerKeys, type TrustedIssuer } from "./issuer-keys.ts";
import type { SigningJwk } from "./signing-key.ts";

export interface TokenParts {
  /** Our own issuer. */
  readonly base: () => string;
  readonly key: SigningJwk;
  /** The same objects while nothing about them changed. */
  readonly issuers: () => readonly TrustedIssuer[];
  /** Asks outside issuers for their keys. */
  readonly fetch?: Fetch;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface Checked {
  readonly claims: Claims;
  /** Whose keys it was checked with; undefined: ours. */
  readonly by: TrustedIssuer | undefined;
  readonly until: number;
}

const MOST_REMEMBERED = 10_000;
/** Then it is checked again: its issuer may have withdrawn the key. */
const REMEMBERED_MS = 5 * 60_000;
const MOST_CHARACTERS = 8_192;
/** Clocks differ, in seconds. */
const TOLERANCE = 5;
const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

export class Tokens {
  readonly #parts: TokenParts;
  readonly #now: () => number;
  /** By a hash of the token, oldest first. */
  readonly #checked = new Map<string, Checked>();
  readonly #keys = new WeakMap<TrustedIssuer, JWTVerifyGetKey>();

  constructor(parts: TokenParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** What an earlier check found; undefined: `check` must be asked. */
  known(token: string): Claims | undefined {
    const checked = this.#checked.get(digest(token));
    if (!checked || this.#now() >= checked.until) return undefined;
    return checked.by === undefined || this.#parts.issuers().includes(checked.by)
      ? checked.claims
      : undefined;
  }

  /** Undefined for everything that is no token that we believe, whatever is wrong with it. */
  async check(token: string): Promise<Claims | undefined> {
    const issuer = issuerIn(token);
    if (issuer === undefined) return undefined;
    const own = issuer === this.#parts.base();
    const by = own ? undefined : this.#parts.issuers().find((one) => one.issuer === issuer);
    if (!own && !by) return undefined;
    const claims = await (by ? this.#outside(token, by) : this.#own(token)).catch(() => undefined);
    if (claims) this.#remember(token, claims, by);
    return claims;
  }

  async #own(token: string): Promise<Claims | undefined> {
    const { key, base } = this.#parts;
    return await this.#verified(token, async () => await (await import("jose")).importJWK(key), {
      issuer: base(),
      algorithms: ["ES256"],
      typ: "at+jwt",
    });
  }

  async #outside(token: string, by: TrustedIssuer): Promise<Claims | undefined> {
    const keys = this.#keys.get(by) ?? issuerKeys(by, this.#parts);
    this.#keys.set(by, keys);
    return await this.#verified(
      token,
      keys,
      { issuer: by.issuer, algorithms: [...by.algorithms] },
      by.groupsClaim,
    );
  }

  async #verified(
    token: string,
    key: JWTVerifyGetKey,
    options: JWTVerifyOptions & { readonly issuer: string },
    groupsClaim?: string,
  ): Promise<Claims | undefined> {
    const { jwtVerify } = await import("jose");
    const { payload } = await jwtVerify(token, key, {
      ...options,
      clockTolerance: TOLERANCE,
      requiredClaims: ["exp", "sub", "aud"],
      currentDate: new Date(this.#now()),
    });
    const own = options.issuer === this.#parts.base();
    return claimsOf(payload, own ? {} : { issuer: options.issuer, groupsClaim });
  }

  #remember(token: string, claims: Claims, by: TrustedIssuer | undefined): void {
    const until = Math.min(claims.expiresAt, this.#now() + REMEMBERED_MS);
    this.#checked.set(digest(token), { claims, by, until });
    for (const [old, { until: end }] of this.#checked) {
      if (this.#checked.size <= MOST_REMEMBERED && end > this.#now()) break;
      this.#checked.delete(old);
    }
  }
}

/** What the token says who made it: not believed, only where to look for keys. */
function issuerIn(token: string): string | undefined {
  const [, body] = token.length > MOST_CHARACTERS ? [] : (SHAPE.exec(token) ?? []);
  if (body === undefined) return undefined;
  try {
    const { iss } = JSON.parse(Buffer.from(body, "base64url").toString()) as { iss?: unknown };
    return typeof iss === "string" ? iss : undefined;
  } catch {
    return undefined;
  }
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
