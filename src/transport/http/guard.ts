/** Who may talk to us over HTTP: Host, Origin and bearer token. Decides; answers nobody. */
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
  /** The origin to answer with CORS headers, if it is listed. */
  readonly cors: string | undefined;
}

export type Refused = Cors & {
  readonly ok: false;
  readonly status: 401 | 403 | 404;
  readonly reason: string;
  /** What `WWW-Authenticate` says, where it is more than that a token is needed. */
  readonly challenge?: string;
};
export type Verdict = Refused | (Cors & { readonly ok: true; readonly principal: Principal });
/** Whoever asks may come in, as far as Host and Origin go; further origins may be listed for one address. */
export type Door = (
  headers: IncomingHttpHeaders,
  origins?: readonly string[],
) => Refused | (Cors & { readonly ok: true });

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Checks are compiled once; DNS rebinding is stopped by Host, foreign pages by Origin. */
export function createDoor(options: Omit<GuardOptions, "token">): Door {
  const hosts = new Set([...LOOPBACK, nameOf(options.host), ...options.allowHosts.map(nameOf)]);
  const listed = new Set(options.allowOrigins.map(originOf));
  return function door(headers, more = []) {
    const name = nameOf(headers.host ?? "");
    if (!hosts.has(name)) return refused(403, "this Host is not allowed; add it with --allow-host");
    const { origin } = headers;
    if (origin === undefined) return { ok: true, cors: undefined };
    if (listed.has(originOf(origin)) || more.some((other) => originOf(other) === originOf(origin)))
      return { ok: true, cors: origin };
    return isOwn(origin, headers.host ?? "")
      ? { ok: true, cors: undefined }
      : refused(403, "this Origin is not allowed; add it with --allow-origin");
  };
}

/** Host and Origin, and strangers are stopped by the token. */
export function createGuard(options: GuardOptions): (headers: IncomingHttpHeaders) => Verdict {
  const door = createDoor(options);
  const token = options.token === undefined ? undefined : digest(options.token);
  const holder = token && holderOf(token);
  const unverified = createUnverified();

  return function guard(headers) {
    const entered = door(headers);
    if (!entered.ok) return entered;
    const { cors } = entered;
    if (token && !timingSafeEqual(token, digest(bearerOf(headers)))) {
      return refused(401, "a bearer token is required (METAMCP_TOKEN)", cors);
    }
    return { ok: true, cors, principal: holder ?? unverified(headers) };
  };
}

/** Who shows the token. All who do are the same to us. */
function holderOf(token: Buffer): Principal {
  return { id: `token ${token.toString("hex")}`, kind: "token", roles: [], groups: [] };
}

/** Nobody checks credentials here, but those who show different ones are not the same. */
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

/** Compared as digests, so that neither content nor length leaks through time. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Empty where there is none. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

function originOf(written: string): string {
  return written.toLowerCase().replace(/\/$/, "");
}

/** Without the port: we may be behind a forwarded one. */
function nameOf(host: string): string {
  const lower = host.toLowerCase();
  if (lower.startsWith("[")) return lower.replace(/\]:\d*$/, "]");
  return lower.includes("::") ? `[${lower}]` : lower.replace(/:\d*$/, "");
}

/** A page that we could have served ourselves: the same host and port. Another port of this machine is somebody else's page. */
function isOwn(origin: string, host: string): boolean {
  try {
    const { protocol, host: theirs } = new URL(origin);
    // Each scheme leaves out its own port.
    return /^https?:$/.test(protocol) && theirs === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}
