/** The admin API of a gateway: its routes, and who may use them. */
import { addressReader } from "../access/client-address.ts";
import type { Log } from "../kernel/log.ts";
import { authenticator, credentialCounter } from "./authenticate.ts";
import { answerOthers } from "./gather.ts";
import { objectNamer } from "./named-object.ts";
import { problemOf } from "./problem-of.ts";
import { type AdminHandler, createAdminRouter } from "./router.ts";
import { adminRoutes } from "./routes/all.ts";
import { type AdminParts, BASE } from "./routes/parts.ts";

/**
 * Paths that an identity provider may redirect to: our own, and the path of the older MetaMCP that a gateway
 * may replace.
 */
export const OIDC_CALLBACKS = ["/api/v1/login/oidc/callback", "/api/auth/oauth2/callback/oidc"] as const;

export interface AdminOptions extends AdminParts {
  /** Addresses or networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy?: readonly string[];
  readonly log: Log;
}

export function createAdmin({ trustProxy = [], ...parts }: AdminOptions): AdminHandler {
  const { access, log, replicas } = parts;
  const ofConnection = addressReader(trustProxy);
  answerOthers(parts);
  return createAdminRouter({
    routes: adminRoutes(parts),
    log,
    authenticate: authenticator(access),
    onRefused: parts.refused && credentialCounter(access, parts.refused),
    inStep: parts.inStep,
    isOwnPage: (headers) => access.sessions.isOwnPage(headers),
    addressOf: (request) => replicas.clientOf?.(request) ?? ofConnection(request),
    replicas,
    events: parts.events,
    objectOf: objectNamer(parts),
    problemOf,
  });
}

/**
 * Maps a path of the gateway to a path of the admin router. Undefined if the path is not part of the admin
 * API.
 */
export function adminPath(pathname: string): string | undefined {
  if (pathname.startsWith(`${BASE}/`)) return pathname.slice(BASE.length);
  if (pathname === "/metrics") return pathname;
  if (pathname === OIDC_CALLBACKS[1]) return "/login/oidc/callback";
  // The older MetaMCP serves this path without a prefix.
  return /^\/mcp-servers(?:\/|$)/.test(pathname) ? pathname : undefined;
}
