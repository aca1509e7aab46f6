/** Endpoints as OAuth resources: their addresses, their metadata (RFC 9728), and what a 401 tells a client. Pure. */

/** All that a token can be good for. */
export const SCOPE = "mcp";

const NAME = "[A-Za-z0-9][A-Za-z0-9_-]{0,62}";
const RESOURCE = new RegExp(`^/metamcp/(${NAME})/(mcp|sse)/?$`);
const METADATA = new RegExp(`^/\\.well-known/oauth-protected-resource/metamcp/(${NAME})/(mcp|sse)$`);

/** The transports that a client can be given the address of. */
type Way = "mcp" | "sse";

/** The address of an endpoint: the audience of its tokens, whichever transport they are used at. */
export function audienceOf(base: string, endpoint: string): string {
  return addressOf(base, endpoint, "mcp");
}

/** The name in an address of ours that a client calls its resource; undefined for every other text. */
export function endpointIn(base: string, resource: string): string | undefined {
  if (!URL.canParse(resource)) return undefined;
  const { origin, pathname, search, hash, username } = new URL(resource);
  if (origin !== new URL(base).origin || search + hash + username !== "") return undefined;
  return RESOURCE.exec(pathname)?.[1];
}

/** The name in an address that is known to be one of ours, or was when it was kept. */
export function endpointOf(resource: string): string {
  return RESOURCE.exec(new URL(resource).pathname)?.[1] ?? resource;
}

/** Which endpoint a path asks the metadata of. */
export function metadataPath(path: string): { readonly endpoint: string; readonly way: Way } | undefined {
  const [, endpoint, way] = METADATA.exec(path) ?? [];
  return endpoint === undefined ? undefined : { endpoint, way: way as Way };
}

/** The same for every name: whether there is such an endpoint is not told. */
export function resourceMetadata(
  base: string,
  { endpoint, way }: { readonly endpoint: string; readonly way: Way },
  issuers: readonly string[] = [],
): object {
  return {
    // What the client was given: it compares.
    resource: addressOf(base, endpoint, way),
    authorization_servers: [base, ...issuers],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ["header"],
  };
}

export type TokenFault = "invalid_token" | "insufficient_scope";

/** The value of `WWW-Authenticate`. `way`: what stands behind the name in the path that was asked for. */
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
