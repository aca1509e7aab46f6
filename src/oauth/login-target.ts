/** Who lets people in at a server: asked of the server itself, then of the issuer it names. Sends no token anywhere. */

import type { RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { revealed } from "../kernel/secret.ts";
import { IMPLEMENTATION } from "../kernel/version.ts";
import { type Issuer, soundScopes } from "./grant.ts";
import { type Fetch, fetchFor, type Sdk } from "./sdk.ts";

const VERSION = "2025-11-25";

type Discovered = Awaited<ReturnType<Sdk["discoverOAuthServerInfo"]>>;

export interface LoginTarget {
  /** Where it is asked for what has no metadata. */
  readonly server: string;
  readonly issuer: Issuer;
  readonly metadata: Discovered["authorizationServerMetadata"];
  readonly resource: string | undefined;
  /** What the server asked for, in its refusal or in its metadata. */
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
  const meant = sdk.resourceUrlFromServerUrl(spec.url);
  if (resource && !sdk.checkResourceAllowed({ requestedResource: meant, configuredResource: resource })) {
    throw new MetaMcpError("auth_required", "its metadata describes another server: check the URL");
  }
  return {
    server,
    metadata,
    issuer: issuerOf(server, metadata),
    resource,
    scopes: soundScopes(scope?.split(" ") ?? resourceMetadata?.scopes_supported ?? []),
    fetch,
  };
}

/** An issuer without metadata is asked where such have always been asked. */
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
  // It is shown to people, and compared with as it is written.
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

interface Refusal extends ReturnType<Sdk["extractWWWAuthenticateParams"]> {
  /** It was none. */
  readonly open: boolean;
}

/** What the server says when nobody is logged in: some let everyone greet them, and refuse to list. */
async function challengeOf(sdk: Sdk, spec: RemoteSpec, fetch: Fetch): Promise<Refusal> {
  const ask = asking(spec, fetch);
  const greeted = await ask(spec.kind === "sse" ? undefined : HELLO);
  const session = greeted.headers.get("mcp-session-id");
  const more = session === null ? {} : { "mcp-session-id": session };
  const refused = greeted.status === 401 || spec.kind === "sse";
  const listed = refused ? greeted : await ask(LIST, more);
  if (session !== null) await ask("end", more).catch(() => undefined);
  return { ...sdk.extractWWWAuthenticateParams(listed), open: listed.ok };
}

const HELLO = {
  method: "initialize",
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: IMPLEMENTATION },
};
const LIST = { method: "tools/list", params: {} };

type Ask = (
  message: object | "end" | undefined,
  more?: Readonly<Record<string, string>>,
) => Promise<Response>;

/** A message, the end of a session, or without either a look at the stream. Only status and headers are of interest. */
function asking({ url, headers }: RemoteSpec, fetch: Fetch): Ask {
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
      // The headers are secrets: they follow no redirect.
      redirect: "manual",
    });
    await response.body?.cancel();
    return response;
  };
}
