/** Decides whether an HTTP request is allowed, by its Host, Origin and bearer token. Does not write the response. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { ANONYMOUS, type Principal } from "../../kernel/principal.ts";

export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
}

interface Cors {
  /** The origin for the CORS headers; undefined if the origin is not listed. */
  readonly cors: string | undefined;
}

export type Refused = Cors & {
  readonly ok: false;
  readonly status: 401 | 403 | 404;
  readonly reason: string;
  /** The value of `WWW-Authenticate`, if it says more than that a bearer token is required. */
  readonly challenge?: string;
};
export type Verdict = Refused | (Cors & { readonly ok: true; readonly principal: Principal });
/** Checks Host and Origin only. `origins` are allowed in addition to the listed ones. */
export type HostGuard = (
  headers: IncomingHttpHeaders,
  origins?: readonly string[],
) => Refused | (Cors & { readonly ok: true });

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The Host check stops DNS rebinding; the Origin check stops web pages of other sites. */
export function createHostGuard(options: Omit<GuardOptions, "token">): HostGuard {
  const hosts = new Set([...LOOPBACK, nameOf(options.host), ...options.allowHosts.map(nameOf)]);
  const listed = new Set(options.allowOrigins.map(originOf));
  return function hostGuard(headers, more = []) {
    const name = nameOf(headers.host ?? "");
    if (!hosts.has(name)) return refused(403, "this Host is not allowed; add it with --allow-host");
    const { origin } = headers;
    if (origin === undefined) return { ok: true, cors: undefined };
    if (listed.has(originOf(origin)) || more.some((other) => originOf(other) === originOf(origin)))
      return { ok: true, cors: origin };
    return isSameHost(origin, headers.host ?? "")
      ? { ok: true, cors: undefined }
      : refused(403, "this Origin is not allowed; add it with --allow-origin");
  };
}

/** Checks Host, Origin and, if one is set, the token. */
export function createGuard(options: GuardOptions): (headers: IncomingHttpHeaders) => Verdict {
  const hostGuard = createHostGuard(options);
  const token = options.token === undefined ? undefined : digest(options.token);
  const holder = token && holderOf(token);
  const unverified = createUnverified();

  return function guard(headers) {
    const checked = hostGuard(headers);
    if (!checked.ok) return checked;
    const { cors } = checked;
    if (token && !timingSafeEqual(token, digest(bearerOf(headers)))) {
      return refused(401, "a bearer token is required (METAMCP_TOKEN)", cors);
    }
    return { ok: true, cors, principal: holder ?? unverified(headers) };
  };
}

/** All clients with the token are the same principal. */
function holderOf(token: Buffer): Principal {
  return { id: `token ${token.toString("hex")}`, kind: "token", roles: [], groups: [] };
}

/** Without a token, credentials are not checked. Clients with different credentials are still different principals. */
function createUnverified(): (headers: IncomingHttpHeaders) => Principal {
  let last = { shown: "", principal: ANONYMOUS };
  return ({ authorization: shown = "" }) => {
    if (shown === "") return ANONYMOUS;
    if (shown !== last.shown)
      last = { shown, principal: { ...ANONYMOUS, id: `anonymous ${digest(shown).toString("hex")}` } };
    return last.principal;
  };
}

export const refused = (
  status: Refused["status"],
  reason: string,
  cors?: string,
  challenge?: string,
): Refused => ({
  ok: false,
  status,
  reason,
  cors,
  ...(challenge === undefined ? {} : { challenge }),
});

/** Tokens are compared as digests, so that the time of a comparison reveals neither content nor length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Returns an empty string without a bearer token. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

function originOf(written: string): string {
  return written.toLowerCase().replace(/\/$/, "");
}

/** Drops the port, because a port in front of us may be forwarded to ours. */
function nameOf(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith("[")) return lower.replace(/\]:\d*$/, "]");
  return lower.includes("::") ? `[${lower}]` : lower.replace(/:\d*$/, "");
}

/** The page has the same host and port as we have. Another port of this machine may serve pages of another program. */
function isSameHost(origin: string, host: string): boolean {
  try {
    const { protocol, host: theirs } = new URL(origin);
    // `URL.host` omits the default port of the scheme, on both sides.
    return /^https?:$/.test(protocol) && theirs === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}
