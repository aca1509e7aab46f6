/**
 * Verifies access tokens: our own, and those of configured issuers. Caches verified tokens, so that most
 * requests need no cryptography.
 */
import { createHash } from "node:crypto";
import type { JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import { type Claims, claimsOf } from "./claims.ts";
import { type Fetch, issuerKeys, type TrustedIssuer } from "./issuer-keys.ts";
import type { SigningJwk } from "./signing-key.ts";

export interface TokenParts {
  /** The issuer of our own tokens. */
  readonly base: () => string;
  readonly key: SigningJwk;
  /** Must return the same objects while the configuration is unchanged. */
  readonly issuers: () => readonly TrustedIssuer[];
  /** Fetches the keys of external issuers. */
  readonly fetch?: Fetch;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

interface CachedToken {
  readonly claims: Claims;
  /** The issuer whose keys verified it. Undefined for our own. */
  readonly by: TrustedIssuer | undefined;
  readonly until: number;
}

const MAX_CACHED = 10_000;
/** After this time a token is verified again, because its issuer may have withdrawn the key. */
const CACHE_MS = 5 * 60_000;
const MAX_CHARACTERS = 8_192;
/** Allowed clock difference, in seconds. */
const CLOCK_TOLERANCE_S = 5;
const JWT_FORM = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

export class Tokens {
  readonly #parts: TokenParts;
  readonly #now: () => number;
  /** By hash of the token, oldest first. */
  readonly #cache = new Map<string, CachedToken>();
  readonly #keys = new WeakMap<TrustedIssuer, JWTVerifyGetKey>();

  constructor(parts: TokenParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** The claims of a cached token. Undefined if the token must be verified with `check`. */
  cached(token: string): Claims | undefined {
    const checked = this.#cache.get(digest(token));
    if (!checked || this.#now() >= checked.until) return undefined;
    return checked.by === undefined || this.#parts.issuers().includes(checked.by)
      ? checked.claims
      : undefined;
  }

  /** Whether tokens of this external issuer are accepted now. */
  trusts(issuer: string): boolean {
    return this.#parts.issuers().some((one) => one.issuer === issuer);
  }

  /** Returns undefined for any invalid token. */
  async check(token: string): Promise<Claims | undefined> {
    const issuer = issuerIn(token);
    if (issuer === undefined) return undefined;
    const own = issuer === this.#parts.base();
    const by = own ? undefined : this.#parts.issuers().find((one) => one.issuer === issuer);
    if (!own && !by) return undefined;
    const claims = await (by ? this.#verifyExternal(token, by) : this.#verifyOwn(token)).catch(
      () => undefined,
    );
    if (claims) this.#addToCache(token, claims, by);
    return claims;
  }

  async #verifyOwn(token: string): Promise<Claims | undefined> {
    const { key, base } = this.#parts;
    return await this.#verify(token, async () => await (await import("jose")).importJWK(key), {
      issuer: base(),
      algorithms: ["ES256"],
      typ: "at+jwt",
    });
  }

  async #verifyExternal(token: string, by: TrustedIssuer): Promise<Claims | undefined> {
    const keys = this.#keys.get(by) ?? issuerKeys(by, this.#parts);
    this.#keys.set(by, keys);
    return await this.#verify(
      token,
      keys,
      { issuer: by.issuer, algorithms: [...by.algorithms] },
      by.groupsClaim,
    );
  }

  async #verify(
    token: string,
    key: JWTVerifyGetKey,
    options: JWTVerifyOptions & { readonly issuer: string },
    groupsClaim?: string,
  ): Promise<Claims | undefined> {
    const { jwtVerify } = await import("jose");
    const { payload } = await jwtVerify(token, key, {
      ...options,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ["exp", "sub", "aud"],
      currentDate: new Date(this.#now()),
    });
    const own = options.issuer === this.#parts.base();
    return claimsOf(payload, own ? {} : { issuer: options.issuer, groupsClaim });
  }

  #addToCache(token: string, claims: Claims, by: TrustedIssuer | undefined): void {
    const until = Math.min(claims.expiresAt, this.#now() + CACHE_MS);
    this.#cache.set(digest(token), { claims, by, until });
    for (const [old, { until: end }] of this.#cache) {
      if (this.#cache.size <= MAX_CACHED && end > this.#now()) break;
      this.#cache.delete(old);
    }
  }
}

/** The unverified issuer of a token. Used only to select the keys. */
function issuerIn(token: string): string | undefined {
  const [, body] = token.length > MAX_CHARACTERS ? [] : (JWT_FORM.exec(token) ?? []);
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
