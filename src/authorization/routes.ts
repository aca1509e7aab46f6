/** Where the authorization server is to be found. Pure. */

/** Paths as oidc-provider knows them. */
export const ROUTES = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
  end_session: "/oauth/end-session",
  metadata: "/.well-known/oauth-authorization-server",
} as const;

/** Pages for people: one below it for each login. */
export const LOGIN = "/oauth/login";

/** Some clients ask there, whatever the metadata say. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["/authorize", ROUTES.authorization],
  ["/token", ROUTES.token],
  ["/register", ROUTES.registration],
]);

const DOCUMENT = "(?:oauth-authorization-server|openid-configuration)";
const RESOURCE = "/metamcp/[^/]+/(?:mcp|sse)";
/** At the root, with the path of a resource inserted (RFC 8414), and with it in front (as OpenID has it). */
const METADATA = new RegExp(
  `^(?:/\\.well-known/${DOCUMENT}(?:${RESOURCE})?|${RESOURCE}/\\.well-known/${DOCUMENT})/?$`,
);

/** The path that answers; undefined: it is none of ours. */
export function routeOf(path: string): string | undefined {
  if (METADATA.test(path)) return ROUTES.metadata;
  return ALIASES.get(path) ?? (path.startsWith("/oauth/") ? path : undefined);
}

/** An authorization request names scopes of its own making, or none: whatever it names, `scope` is what it gets. */
export function withScope(url: string, scope: string): string {
  const [path = "", query = ""] = url.split("?", 2);
  const params = new URLSearchParams(query);
  // Twice is for the provider to refuse.
  if (params.getAll("scope").length > 1) return url;
  const kept = (params.get("scope") ?? "").split(" ").includes("offline_access") ? " offline_access" : "";
  params.set("scope", `${scope}${kept}`);
  return `${path}?${params.toString()}`;
}
