/**
 * Sends a person to the issuer of a server, and makes tokens of the code that they come back with. What is between is a
 * value: whoever has it can go on, in another process too.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { addressOf } from "./authorizations.ts";
import { clientFor } from "./client.ts";
import { type Book, type Grant, grantOf, type Registration, soundScopes, union } from "./grant.ts";
import type { LoginTarget } from "./login-target.ts";
import { mayLeadTo } from "./reach.ts";
import { clientOf, withTokens } from "./renew.ts";
import { fetchFor, type Sdk } from "./sdk.ts";

export interface LoginWish {
  readonly spec: RemoteSpec;
  readonly place: LoginTarget;
  /** What is known of earlier logins there. */
  readonly book: Book;
  readonly account: string;
  readonly redirectUri: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What must be known again when the person is back. Holds a secret: it is kept like one. */
export interface BegunLogin {
  readonly state: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
  /** Where the code is made tokens of, for issuers without metadata. */
  readonly server: string;
  /** Where its metadata say so. */
  readonly issuer: string | undefined;
  /** The issuer always says that an answer is its own. */
  readonly namesItself: boolean;
  /** Without its tokens. */
  readonly grant: Grant;
}

export interface LoginAnswer {
  readonly code: string | undefined;
  /** What went wrong, in the word that OAuth has for it. */
  readonly error: string | undefined;
  readonly iss: string | undefined;
}

export interface StartedLogin {
  /** The person has to go there. */
  readonly address: URL;
  readonly begun: BegunLogin;
  /** We were registered for it, and that is to be kept. */
  readonly registered: Registration | undefined;
}

export async function startLogin(sdk: Sdk, wish: LoginWish): Promise<StartedLogin> {
  const { spec, place, account, redirectUri, now } = wish;
  const scopes = scopesOf(wish);
  const client = await clientFor(sdk, { ...wish, oauth: spec.oauth }, { redirectUri, scopes, now });
  const state = randomBytes(32).toString("base64url");
  const { metadata } = place;
  const { authorizationUrl, codeVerifier } = await sdk.startAuthorization(place.server, {
    metadata: { ...metadata, ...place.issuer },
    clientInformation: client.id,
    redirectUrl: redirectUri,
    state,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(place.resource !== undefined && { resource: place.resource }),
  });
  return {
    address: openable(authorizationUrl, spec),
    registered: client.registered,
    begun: {
      state,
      codeVerifier,
      redirectUri,
      server: place.server,
      issuer: metadata?.issuer,
      namesItself: metadata?.["authorization_response_iss_parameter_supported"] === true,
      grant: {
        url: addressOf(spec.url),
        account,
        id: randomUUID(),
        issuer: place.issuer,
        client: client.configured ? { client_id: client.id.client_id } : client.id,
        configured: client.configured,
        resource: place.resource,
        accessToken: "",
        scopes,
        obtainedAt: now,
      },
    },
  };
}

/** What was granted before and what was missed since is asked for too: a login never narrows one. */
function scopesOf({ spec, place, book, account }: LoginWish): string[] {
  const before = grantOf(book, addressOf(spec.url), account);
  const asked = spec.oauth?.scopes ?? place.scopes;
  const scopes = soundScopes(union(asked, before?.scopes, before?.wanted));
  const lasting = place.metadata?.scopes_supported?.includes("offline_access") === true;
  return lasting && scopes.length > 0 ? union(scopes, ["offline_access"]) : scopes;
}

export async function finishLogin(
  sdk: Sdk,
  { spec, begun, now }: { readonly spec: RemoteSpec; readonly begun: BegunLogin; readonly now: number },
  { code, error, iss }: LoginAnswer,
): Promise<Grant> {
  const { grant, codeVerifier, redirectUri, server } = begun;
  // Before anything else of the answer is looked at: it may be the answer of another issuer.
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

/** What a server names goes to the person's browser: nothing but a web address may. */
function openable(address: URL, { url }: RemoteSpec): URL {
  if (mayLeadTo(new URL(url), address)) return address;
  throw new MetaMcpError("auth_required", "its login page does not use https, or is on this machine");
}
