/** Keys of an outside issuer: found by its metadata where they are not configured, and asked for anew when they change. */
import type { JWTVerifyGetKey } from "jose";
import { mayLeadTo } from "../oauth/reach.ts";

export interface TrustedIssuer {
  readonly issuer: string;
  readonly jwksUri?: string;
  readonly algorithms: readonly string[];
  readonly groupsClaim?: string;
}

/** Whatever tokens name, an issuer is asked at most so often. */
const PAUSE_MS = 30_000;
/** Keys that the issuer withdrew are good for so long at most. */
const STALE_MS = 10 * 60_000;
const PATIENCE_MS = 5_000;

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Rejects where the issuer cannot be asked, or was just asked in vain. */
export function issuerKeys(
  { issuer, jwksUri }: TrustedIssuer,
  { fetch = globalThis.fetch, now = Date.now }: { readonly fetch?: Fetch; readonly now?: () => number } = {},
): JWTVerifyGetKey {
  let found: Promise<JWTVerifyGetKey> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function paced<T>(ask: () => Promise<T>): Promise<T> {
    if (now() - failedAt < PAUSE_MS)
      throw new Error(`${issuer} could not be asked for its keys a moment ago`);
    try {
      return await ask();
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
    const url = jwksUri ?? (await paced(() => keysAddress(issuer, get)));
    return createRemoteJWKSet(new URL(url), {
      cooldownDuration: PAUSE_MS,
      cacheMaxAge: STALE_MS,
      timeoutDuration: PATIENCE_MS,
      [customFetch]: (address: string, init: RequestInit) => paced(() => get(address, init)),
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
      const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) });
      const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
      if (metadata.issuer !== issuer) throw new Error(`${address} belongs to another issuer`);
      const { jwks_uri: keys } = metadata;
      if (typeof keys !== "string" || !URL.canParse(keys)) throw new Error(`${address} has no jwks_uri`);
      // The administrator named the issuer; what the issuer names must be no nearer to us.
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

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID behind it. */
function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}
