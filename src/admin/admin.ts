/** The admin API of a gateway: its routes, and who may use them. */
import { addressReader } from "../access/client-address.ts";
import type { Log } from "../kernel/log.ts";
import { authenticator } from "./authenticate.ts";
import { objectNamer } from "./named-object.ts";
import { problemOf } from "./problem-of.ts";
import { type Answer, createAdminRouter } from "./router.ts";
import { adminRoutes } from "./routes/all.ts";
import { type AdminParts, BASE } from "./routes/parts.ts";

/** Where an identity provider may send people back to: here, and where the system has it that a gateway may be moved from. */
export const OIDC_CALLBACKS = ["/api/v1/login/oidc/callback", "/api/auth/oauth2/callback/oidc"] as const;

export interface AdminOptions extends AdminParts {
  /** Proxies whose `X-Forwarded-For` is believed: addresses or networks. */
  readonly trustProxy?: readonly string[];
  readonly log: Log;
}

export function createAdmin({ trustProxy = [], ...parts }: AdminOptions): Answer {
  const { access, log } = parts;
  return createAdminRouter({
    routes: adminRoutes(parts),
    log,
    authenticate: authenticator(access),
    isOwnPage: (headers) => access.sessions.isOwnPage(headers),
    addressOf: addressReader(trustProxy),
    events: parts.events,
    objectOf: objectNamer(parts),
    problemOf,
  });
}

/** What to give the router for a path of the gateway; undefined where the path is not of the admin API. */
export function adminPath(pathname: string): string | undefined {
  if (pathname.startsWith(`${BASE}/`)) return pathname.slice(BASE.length);
  if (pathname === "/metrics") return pathname;
  if (pathname === OIDC_CALLBACKS[1]) return "/login/oidc/callback";
  // Where the system that a gateway may be moved from has it.
  return /^\/mcp-servers(?:\/|$)/.test(pathname) ? pathname : undefined;
}
