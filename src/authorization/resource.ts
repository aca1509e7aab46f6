/** Endpoints as OAuth resources: addresses, metadata (RFC 9728), and the challenge of a 401. Pure. */

/** The only scope. */
export const SCOPE = "mcp";

const NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,62}";
const RESOURCE = new RegExp(`^/metamcp/(${NAME})/(mcp|sse)/?$`);
const METADATA = new RegExp(`^/\\.well-known/oauth-protected-resource/metamcp/(${NAME})/(mcp|sse)$`);

/** The transport in the address of an endpoint. */
type Way = "mcp" | "sse";

/** The audience of tokens for an endpoint. It is the same for both transports. */
export function audienceOf(base: string, endpoint: string): string {
  return addressOf(base, endpoint, "mcp");
}

/** The name of the endpoint in a resource URL. Undefined if the URL is not an endpoint of this gateway. */
export function endpointIn(base: string, resource: string): string | undefined {
  if (!URL.canParse(resource)) return undefined;
  const { origin, pathname, search, hash, username } = new URL(resource);
  if (origin !== new URL(base).origin || search + hash + username !== "") return undefined;
  return RESOURCE.exec(pathname)?.[1];
}

/**
 * The name of the endpoint in a stored resource URL. It may have another origin if the address of the gateway
 * changed.
 */
export function endpointOf(resource: string): string {
  return RESOURCE.exec(new URL(resource).pathname)?.[1] ?? resource;
}

/** The endpoint whose metadata a path names. */
export function metadataPath(path: string): { readonly endpoint: string; readonly way: Way } | undefined {
  const [, endpoint, way] = METADATA.exec(path) ?? [];
  return endpoint === undefined ? undefined : { endpoint, way: way as Way };
}

/** The same for every name, so that callers cannot find out whether the endpoint exists. */
export function resourceMetadata(
  base: string,
  { endpoint, way }: { readonly endpoint: string; readonly way: Way },
  issuers: readonly string[] = [],
): object {
  return {
    // Must equal the address that the client uses, because clients compare them.
    resource: addressOf(base, endpoint, way),
    authorization_servers: [base, ...issuers],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
  };
}

export type TokenFault = "invalid_token" | "insufficient_scope";

/**
 * The value of `WWW-Authenticate`. `way` is the part of the requested path after the name of the endpoint.
 */
export function challenge(base: string, endpoint: string, way: string, fault?: TokenFault): string {
  const transport: Way = way === "sse" || way === "message" ? "sse" : "mcp";
  const name = encodeURIComponent(endpoint);
  const metadata = `${base}/.well-known/oauth-protected-resource/metamcp/${name}/${transport}`;
  const error = fault === undefined ? "" : `error="${fault}", `;
  return `Bearer ${error}resource_metadata="${metadata}", scope="${SCOPE}"`;
}

function addressOf(base: string, endpoint: string, way: Way): string {
  return `${base}/metamcp/${endpoint}/${way}`;
}
