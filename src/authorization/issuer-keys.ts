/**
 * Fetches the keys of an external issuer: from the configured URL or from its metadata. Fetches them again
 * when they change.
 */
import type { JWTVerifyGetKey } from "jose";
import { mayLeadTo } from "../server-logins/reach.ts";

export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwksUri?: string;
  readonly algorithms: readonly string[];
  readonly groupsClaim?: string;
}

/** Time between two requests to an issuer, whatever keys tokens name. */
const COOLDOWN_MS = 30_000;
/** Keys that the issuer has withdrawn are accepted for at most this time. */
const CACHE_MS = 10 * 60_000;
const TIMEOUT_MS = 5_000;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Rejects if the issuer is unreachable, or a request to it failed within the cooldown. */
export function issuerKeys(
  { issuer, jwksUri }: TrustedIssuer,
  { fetch = globalThis.fetch, now = Date.now }: { readonly fetch?: Fetch; readonly now?: () => number } = {},
): JWTVerifyGetKey {
  let found: Promise<JWTVerifyGetKey> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function withCooldown<T>(run: () => Promise<T>): Promise<T> {
    if (now() - failedAt < COOLDOWN_MS)
      throw new Error(`${issuer} could not be asked for its keys a moment ago`);
    try {
      return await run();
    } catch (error) {
      failedAt = now();
      throw error;
    }
  }

  async function get(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, { ...init, redirect: "manual" });
    if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    return response;
  }

  async function find(): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import("jose");
    const url = jwksUri ?? (await withCooldown(() => keysAddress(issuer, get)));
    return createRemoteJWKSet(new URL(url), {
      cooldownDuration: COOLDOWN_MS,
      cacheMaxAge: CACHE_MS,
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: (address: string, init: RequestInit) => withCooldown(() => get(address, init)),
    });
  }

  return async function keyOf(header, token) {
    found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return await (await found)(header, token);
  };
}

async function keysAddress(issuer: string, fetch: Fetch): Promise<string> {
  const faults: string[] = [];
  for (const address of metadataAddresses(issuer)) {
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
      if (metadata.issuer !== issuer) throw new Error(`${address} belongs to another issuer`);
      const { jwks_uri: keys } = metadata;
      if (typeof keys !== "string" || !URL.canParse(keys)) throw new Error(`${address} has no jwks_uri`);
      // The administrator trusts the issuer, but a public issuer must not make the gateway request private
      // addresses.
      if (!mayLeadTo(new URL(issuer), new URL(keys)))
        throw new Error(
          `the keys in ${address} are at a private address, but the issuer is not; if this is intended, set jwksUri`,
        );
      return keys;
    } catch (error) {
      faults.push((error as Error).message);
    }
  }
  throw new Error(`cannot get the keys of ${issuer}: ${faults.join("; ")}`);
}

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID after it. */
function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}
