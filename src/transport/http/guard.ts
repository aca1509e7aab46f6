/** Who may talk to us over HTTP: Host, Origin and bearer token. Decides; answers nobody. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
}

export type Verdict = {
  /** The origin to answer with CORS headers, if it is listed. */
  readonly cors: string | undefined;
} & ({ readonly ok: true } | { readonly ok: false; readonly status: 401 | 403; readonly reason: string });

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Checks are compiled once; DNS rebinding is stopped by Host, foreign pages by Origin, strangers by the token. */
export function createGuard(options: GuardOptions): (headers: IncomingHttpHeaders) => Verdict {
  const hosts = new Set([...LOOPBACK, nameOf(options.host), ...options.allowHosts.map(nameOf)]);
  const origins = new Set(options.allowOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  const token = options.token === undefined ? undefined : digest(options.token);

  return function guard(headers) {
    const name = nameOf(headers.host ?? "");
    if (!hosts.has(name)) return refuse(403, "this Host is not served here; --allow-host adds it");
    const { origin } = headers;
    const listed = origin !== undefined && origins.has(origin.toLowerCase());
    if (origin !== undefined && !listed && !isOwn(origin, hosts)) {
      return refuse(403, "this Origin may not connect; --allow-origin adds it");
    }
    const cors = listed ? origin : undefined;
    if (token && !timingSafeEqual(token, digest(bearer(headers.authorization)))) {
      return refuse(401, "a bearer token is needed (METAMCP_TOKEN)", cors);
    }
    return { ok: true, cors };
  };
}

const refuse = (status: 401 | 403, reason: string, cors?: string): Verdict => ({
  ok: false,
  status,
  reason,
  cors,
});

/** Compared as digests, so that neither content nor length leaks through time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function bearer(authorization: string | undefined): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Without the port: we may be behind a forwarded one. */
function nameOf(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith("[")) return lower.replace(/\]:\d*$/, "]");
  return lower.includes("::") ? `[${lower}]` : lower.replace(/:\d*$/, "");
}

/** A page that we could have served ourselves. */
function isOwn(origin: string, hosts: ReadonlySet<string>): boolean {
  try {
    const { protocol, hostname } = new URL(origin);
    return (protocol === "http:" || protocol === "https:") && hosts.has(hostname);
  } catch {
    return false;
  }
}
