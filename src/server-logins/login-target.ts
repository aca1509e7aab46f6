/**
 * Finds the authorization server of an MCP server: asks the server, then the issuer that it names. Sends no
 * token.
 */

import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { revealed } from "../kernel/secret.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import { type Issuer, validScopes } from "./grant.ts";
import { type Fetch, fetchFor, type Sdk } from "./sdk.ts";

const VERSION = "2025-11-25";

type Discovered = Awaited<ReturnType<Sdk["discoverOAuthServerInfo"]>>;

export interface LoginTarget {
  /** The address of the authorization server, for issuers without metadata. */
  readonly server: string;
  readonly issuer: Issuer;
  readonly metadata: Discovered["authorizationServerMetadata"];
  readonly resource: string | undefined;
  /** The scopes that the server requires, from its 401 response or its metadata. */
  readonly scopes: readonly string[];
  readonly fetch: Fetch;
}

export async function findLoginTarget(sdk: Sdk, spec: RemoteSpec): Promise<LoginTarget> {
  const fetch = fetchFor(spec.url);
  const { resourceMetadataUrl, scope, open } = await challengeOf(sdk, spec, fetch);
  const found = await sdk.discoverOAuthServerInfo(spec.url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
  const { authorizationServerUrl: server, authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (open && !metadata && !resourceMetadata)
    throw new MetaMcpError("auth_required", "it requires no login and has no authorization server");
  const resource = resourceMetadata?.resource;
  const requested = sdk.resourceUrlFromServerUrl(spec.url);
  if (resource && !sdk.checkResourceAllowed({ requestedResource: requested, configuredResource: resource })) {
    throw new MetaMcpError("auth_required", "its metadata describes another server: check the URL");
  }
  return {
    server,
    metadata,
    issuer: issuerOf(server, metadata),
    resource,
    scopes: validScopes(scope?.split(" ") ?? resourceMetadata?.scopes_supported ?? []),
    fetch,
  };
}

/** An issuer without metadata has the default endpoints `/authorize` and `/token`. */
function issuerOf(server: string, metadata: LoginTarget["metadata"]): Issuer {
  if (!metadata) {
    return {
      issuer: server,
      authorization_endpoint: new URL("/authorize", server).href,
      token_endpoint: new URL("/token", server).href,
      response_types_supported: ["code"],
    };
  }
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata;
  // The issuer is shown to users and compared character by character.
  if (!/^[\x21-\x7e]+$/.test(issuer))
    throw new MetaMcpError("auth_required", "the address of its issuer is invalid");
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    response_types_supported,
    revocation_endpoint: revocationOf(metadata),
    token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
  };
}

function revocationOf(metadata: object): string | undefined {
  const named = "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined;
  return typeof named === "string" && URL.canParse(named) ? named : undefined;
}

interface Challenge extends ReturnType<Sdk["extractWWWAuthenticateParams"]> {
  /** True if the server answered without a login. */
  readonly open: boolean;
}

/** The server's answer without a login. Some servers accept `initialize` and only refuse `tools/list`. */
async function challengeOf(sdk: Sdk, spec: RemoteSpec, fetch: Fetch): Promise<Challenge> {
  const ask = requester(spec, fetch);
  if (spec.kind === "openapi") {
    const answer = await ask(undefined);
    return { ...sdk.extractWWWAuthenticateParams(answer), open: answer.ok };
  }
  const initialized = await ask(spec.kind === "sse" ? undefined : INITIALIZE);
  const session = initialized.headers.get("mcp-session-id");
  const more = session === null ? {} : { "mcp-session-id": session };
  const refused = initialized.status === 401 || spec.kind === "sse";
  const listed = refused ? initialized : await ask(LIST, more);
  if (session !== null) await ask("end", more).catch(() => undefined);
  return { ...sdk.extractWWWAuthenticateParams(listed), open: listed.ok };
}

const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: IMPLEMENTATION },
};
const LIST = { method: "tools/list", params: {} };

type Ask = (
  message: object | "end" | undefined,
  more?: Readonly<Record<string, string>>,
) => Promise<Response>;

/**
 * Sends a message, or ends the session, or (without a message) opens the stream. Only status and headers of
 * the response are used.
 */
function requester({ url, headers }: RemoteSpec, fetch: Fetch): Ask {
  return async (message, more = {}) => {
    const accept = "application/json, text/event-stream";
    const post = typeof message === "object";
    const response = await fetch(url, {
      method: post ? "POST" : message === "end" ? "DELETE" : "GET",
      headers: {
        ...revealed(headers),
        ...more,
        accept,
        "content-type": "application/json",
        "mcp-protocol-version": VERSION,
      },
      ...(post && { body: JSON.stringify({ jsonrpc: "2.0", id: 0, ...message }) }),
      // The headers contain secrets, so redirects are not followed.
      redirect: "manual",
    });
    await response.body?.cancel();
    return response;
  };
}
