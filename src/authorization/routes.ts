/** The paths of the authorization server. Pure. */

/** The paths in the configuration of oidc-provider. */
export const ROUTES = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
  end_session: "/oauth/end-session",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** The prefix of login pages. Each login has its own path below it. */
export const LOGIN = "/oauth/login";

/** Some clients use these paths, whatever the metadata say. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["/authorize", ROUTES.authorization],
  ["/token", ROUTES.token],
  ["/register", ROUTES.registration],
]);

const DOCUMENT = "(?:oauth-authorization-server|openid-configuration)";
const RESOURCE = "/metamcp/[^/]+/(?:mcp|sse)";
/** At the root, with the path of a resource after it (RFC 8414), and with the path before it (OpenID). */
const METADATA = new RegExp(
  `^(?:/\\.well-known/${DOCUMENT}(?:${RESOURCE})?|${RESOURCE}/\\.well-known/${DOCUMENT})/?$`,
);

/** Maps a path to the path that serves it. Undefined if it does not belong to the authorization server. */
export function routeOf(path: string): string | undefined {
  if (METADATA.test(path)) return ROUTES.metadata;
  return ALIASES.get(path) ?? (path.startsWith("/oauth/") ? path : undefined);
}

/**
 * Replaces the scopes of an authorization request with `scope`, because clients request arbitrary scopes or
 * none. Keeps `offline_access`.
 */
export function withScope(url: string, scope: string): string {
  const [path = "", query = ""] = url.split("?", 2);
  const params = new URLSearchParams(query);
  // The provider refuses a duplicate parameter.
  if (params.getAll("scope").length > 1) return url;
  const kept = (params.get("scope") ?? "").split(" ").includes("offline_access") ? " offline_access" : "";
  params.set("scope", `${scope}${kept}`);
  return `${path}?${params.toString()}`;
}
