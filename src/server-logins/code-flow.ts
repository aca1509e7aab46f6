/**
 * The OAuth authorization code flow: startLogin returns the address for the user's browser, finishLogin
 * exchanges the code for tokens. The state between both is a value, so that another process can finish the
 * login.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { clientFor } from "./client.ts";
import {
  addressOf,
  type Grant,
  grantOf,
  type LoginData,
  type Registration,
  union,
  validScopes,
} from "./grant.ts";
import type { LoginTarget } from "./login-target.ts";
import { mayLeadTo } from "./reach.ts";
import { clientOf, withTokens } from "./renew.ts";
import { fetchFor, type Sdk } from "./sdk.ts";

export interface LoginOptions {
  readonly spec: RemoteSpec;
  readonly target: LoginTarget;
  /** Earlier logins at the server. */
  readonly loginData: LoginData;
  readonly account: string;
  readonly redirectUri: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The state of a login until the user returns. Contains a secret, so it must be stored like one. */
export interface BegunLogin {
  readonly state: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** The address of the authorization server, for issuers without metadata. */
  readonly server: string;
  /** The issuer in the metadata, if there are any. */
  readonly issuer: string | undefined;
  /** The issuer includes `iss` in every answer. */
  readonly namesItself: boolean;
  /** The grant without tokens. */
  readonly grant: Grant;
}

export interface LoginAnswer {
  readonly code: string | undefined;
  /** The OAuth error code. */
  readonly error: string | undefined;
  readonly iss: string | undefined;
}

export interface StartedLogin {
  /** The address to open in the user's browser. */
  readonly address: URL;
  readonly begun: BegunLogin;
  /** A new client registration, which the caller must store. */
  readonly registered: Registration | undefined;
}

export async function startLogin(sdk: Sdk, options: LoginOptions): Promise<StartedLogin> {
  const { spec, target, account, redirectUri, now } = options;
  const scopes = scopesOf(options);
  const client = await clientFor(sdk, { ...options, oauth: spec.oauth }, { redirectUri, scopes, now });
  const state = randomBytes(32).toString("base64url");
  const { metadata } = target;
  const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(target.server, {
    metadata: { ...metadata, ...target.issuer },
    clientInformation: client.id,
    redirectUrl: redirectUri,
    state,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(target.resource !== undefined && { resource: target.resource }),
  });
  return {
    address: checkedAddress(authorizationUrl, spec),
    registered: client.registered,
    begun: {
      state,
      codeVerifier,
      redirectUri,
      server: target.server,
      issuer: metadata?.issuer,
      namesItself: metadata?.["authorization_response_iss_parameter_supported"] === true,
      grant: {
        url: addressOf(spec.url),
        account,
        id: randomUUID(),
        issuer: target.issuer,
        client: client.configured ? { client_id: client.id.client_id } : client.id,
        configured: client.configured,
        resource: target.resource,
        accessToken: "",
        scopes,
        obtainedAt: now,
      },
    },
  };
}

/** Includes the scopes that were granted before or required since, so that a new login never loses scopes. */
function scopesOf({ spec, target, loginData, account }: LoginOptions): string[] {
  const before = grantOf(loginData, addressOf(spec.url), account);
  const asked = spec.oauth?.scopes ?? target.scopes;
  const scopes = validScopes(union(asked, before?.scopes, before?.wanted));
  const offlineAccess = target.metadata?.scopes_supported?.includes("offline_access") === true;
  return offlineAccess && scopes.length > 0 ? union(scopes, ["offline_access"]) : scopes;
}

export async function finishLogin(
  sdk: Sdk,
  { spec, begun, now }: { readonly spec: RemoteSpec; readonly begun: BegunLogin; readonly now: number },
  { code, error, iss }: LoginAnswer,
): Promise<Grant> {
  const { grant, codeVerifier, redirectUri, server } = begun;
  // Checked before anything else, because the answer may come from another issuer.
  sdk.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: begun.issuer,
    issParameterSupported: begun.namesItself,
  });
  if (code === undefined) {
    const word = /^[\w.-]{1,60}$/.exec(error ?? "")?.[0] ?? "no reason given";
    throw new MetaMcpError("auth_required", `it was refused (${word})`);
  }
  const tokens = await sdk.exchangeAuthorization(server, {
    metadata: { ...grant.issuer },
    clientInformation: clientOf(grant, spec.oauth),
    authorizationCode: code,
    codeVerifier,
    redirectUri,
    fetchFn: fetchFor(spec.url),
    ...(iss !== undefined && { iss }),
    ...(grant.resource !== undefined && { resource: grant.resource }),
  });
  if (tokens.token_type.toLowerCase() !== "bearer")
    throw new MetaMcpError("auth_required", "the issuer uses a token type that MetaMCP does not support");
  return withTokens(grant, tokens, now);
}

/** The server chooses this address and the user's browser opens it, so only allowed web addresses pass. */
function checkedAddress(address: URL, { url }: RemoteSpec): URL {
  if (mayLeadTo(new URL(url), address)) return address;
  throw new MetaMcpError("auth_required", "its login page does not use https, or is on this machine");
}
