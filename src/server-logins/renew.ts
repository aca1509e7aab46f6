/** Renews tokens at the issuer that gave them. Stores nothing; the caller must hold the lock. */
import type { OAuthSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import { type ClientId, type Grant, validScopes } from "./grant.ts";
import { fetchFor, isFinal, loadSdk, shownError } from "./sdk.ts";

/** `over`: the login cannot be used again. Otherwise a later attempt may succeed. */
export type Renewal = { readonly grant: Grant } | { readonly reason: string; readonly over: boolean };

export interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
}

export async function renew(grant: Grant, oauth: OAuthSpec | undefined, now: number): Promise<Renewal> {
  const { issuer, resource, refreshToken } = grant;
  if (refreshToken === undefined) return { reason: "the login has expired", over: true };
  const sdk = await loadSdk();
  try {
    const tokens = await sdk.refreshAuthorization(issuer.issuer, {
      metadata: { ...issuer },
      clientInformation: clientOf(grant, oauth),
      refreshToken,
      fetchFn: fetchFor(grant.url),
      ...(resource !== undefined && { resource }),
    });
    return { grant: withTokens(grant, tokens, now) };
  } catch (error) {
    const over = isFinal(sdk, error);
    const what = over ? "the login has ended" : "the login could not be renewed";
    return { over, reason: `${what}: asked at ${shownUrl(issuer.issuer)}, ${shownError(sdk, error)}` };
  }
}

/**
 * The client identity of a grant. The client secret of the config is added here, because it is not stored.
 */
export function clientOf({ client, configured }: Grant, oauth: OAuthSpec | undefined): ClientId {
  const secret = configured ? oauth?.clientSecret : undefined;
  return secret === undefined ? client : { ...client, client_secret: secret.reveal() };
}

export function withTokens(grant: Grant, tokens: TokenResponse, now: number): Grant {
  const {
    access_token: accessToken,
    refresh_token: refreshToken = grant.refreshToken,
    expires_in,
    scope,
  } = tokens;
  if (!/^[\x21-\x7e]+$/.test(accessToken))
    throw new MetaMcpError("auth_required", "the issuer returned a token that is not valid in a header");
  return {
    ...grant,
    accessToken,
    refreshToken,
    scopes: scope ? validScopes(scope.split(/\s+/)) : grant.scopes,
    obtainedAt: now,
    expiresAt: isValidLifetime(expires_in) ? now + expires_in * 1000 : undefined,
  };
}

/**
 * Excludes lifetimes of about a century and more, and those of 0 or less, which would cause endless renewals.
 */
function isValidLifetime(seconds: number | undefined): seconds is number {
  return seconds !== undefined && seconds > 0 && seconds < 3e9;
}
