/**
 * Decides whether an HTTP request is allowed, by its Host, Origin and bearer token. Does not write the
 * response.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Principal, strangerFrom } from "../../kernel/principal.ts";

export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
  /** Counts a wrong token. Returns the seconds to wait if there were too many from that network. */
  readonly onWrongToken?: ((request: GuardedRequest) => number | undefined) | undefined;
  /**
   * An entry without a port accepts any port, because a port of another machine or container may be forwarded
   * to ours.
   */
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
}

interface Cors {
  /** The origin for the CORS headers; undefined if the origin is not listed. */
  readonly cors: string | undefined;
}

export type Refused = Cors & {
  readonly ok: false;
  readonly status: 401 | 403 | 404 | 429;
  readonly reason: string;
  /** The value of `WWW-Authenticate`, if it says more than that a bearer token is required. */
  readonly challenge?: string;
  /** Seconds. */
  readonly retryAfter?: number;
};
export type Verdict = Refused | (Cors & { readonly ok: true; readonly principal: Principal });
/** The part of a request that is checked. `localPort` is the port that it arrived at. */
export interface GuardedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: Pick<IncomingMessage["socket"], "localPort" | "remoteAddress">;
}
/** Checks Host and Origin only. `origins` are allowed in addition to the listed ones. */
export type HostGuard = (
  request: GuardedRequest,
  origins?: readonly string[],
) => Refused | (Cors & { readonly ok: true });

const TOO_MANY = "too many wrong tokens from your network: check the token, and try again later";
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];
/**
 * What a Host without a port means: the default port of http or of https. A proxy in front may use either.
 */
const DEFAULT_PORTS = ["80", "443"];

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The Host check stops DNS rebinding; the Origin check stops web pages of other sites. */
export function createHostGuard(options: Omit<GuardOptions, "token">): HostGuard {
  const isAllowedHost = createHostCheck(options);
  const listed = new Set(options.allowOrigins.map(originOf));
  return function hostGuard({ headers, socket }, more = []) {
    if (!isAllowedHost(headers.host ?? "", socket.localPort))
      return refused(403, "this Host (name and port) is not allowed; add it with --allow-host");
    const { origin } = headers;
    if (origin === undefined) return { ok: true, cors: undefined };
    if (listed.has(originOf(origin)) || more.some((other) => originOf(other) === originOf(origin)))
      return { ok: true, cors: origin };
    return isSameHost(origin, headers.host ?? "")
      ? { ok: true, cors: undefined }
      : refused(403, "this Origin is not allowed; add it with --allow-origin");
  };
}

function createHostCheck({
  host,
  allowHosts,
}: Pick<GuardOptions, "host" | "allowHosts">): (header: string, localPort: number | undefined) => boolean {
  const ours = new Set([...LOOPBACK, splitHost(host).name]);
  const listed = new Set(
    allowHosts.map(splitHost).map(({ name, port }) => (port === undefined ? name : `${name}:${port}`)),
  );
  const isAllowed = (header: string, localPort: number | undefined): boolean => {
    const { name, port } = splitHost(header);
    if (listed.has(name)) return true;
    const ports = port === undefined ? DEFAULT_PORTS : [port];
    return ports.some((one) => listed.has(`${name}:${one}`) || (one === String(localPort) && ours.has(name)));
  };
  // Nearly all requests name the same host.
  let last: { readonly header: string; readonly localPort: number | undefined } | undefined;
  return (header, localPort) => {
    if (last?.header === header && last.localPort === localPort) return true;
    if (!isAllowed(header, localPort)) return false;
    last = { header, localPort };
    return true;
  };
}

/** Checks Host, Origin and, if one is set, the token. */
export function createGuard(options: GuardOptions): (request: GuardedRequest) => Verdict {
  const hostGuard = createHostGuard(options);
  const token = options.token === undefined ? undefined : digest(options.token);
  const holder = token && holderOf(token);
  const unverified = createUnverified();

  return function guard(request) {
    const checked = hostGuard(request);
    if (!checked.ok) return checked;
    const { headers } = request;
    const { cors } = checked;
    if (token && !timingSafeEqual(token, digest(bearerOf(headers)))) {
      const retryAfter = headers.authorization === undefined ? undefined : options.onWrongToken?.(request);
      if (retryAfter === undefined) return refused(401, "a bearer token is required (METAMCP_TOKEN)", cors);
      return { ...refused(429, TOO_MANY, cors), retryAfter };
    }
    return { ok: true, cors, principal: holder ?? unverified(request) };
  };
}

/** All clients with the token are the same principal. */
function holderOf(token: Buffer): Principal {
  return { id: `token ${token.toString("hex")}`, kind: "token", roles: [], groups: [] };
}

/**
 * Without a token, credentials are not checked. Clients with different credentials are still different
 * principals.
 */
function createUnverified(): (request: GuardedRequest) => Principal {
  let last = { shown: "", principal: strangerFrom("") };
  return ({ headers: { authorization: shown = "" }, socket: { remoteAddress: network = "" } }) => {
    if (shown === last.shown && network === last.principal.network) return last.principal;
    const id = shown === "" ? {} : { id: `anonymous ${digest(shown).toString("hex")}` };
    last = { shown, principal: { ...strangerFrom(network), ...id } };
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

/** Also reads a bare IPv6 address, as `--host` has it. */
function splitHost(written: string): { readonly name: string; readonly port: string | undefined } {
  const lower = written.toLowerCase();
  if (/^[^[]*:.*:/.test(lower)) return { name: `[${lower}]`, port: undefined };
  const [, name = lower, port] = /^(.*?)(?::(\d*))?$/.exec(lower) ?? [];
  return { name, port: port || undefined };
}

/**
 * The page has the same host and port as we have. Another port of this machine may serve pages of another
 * program.
 */
function isSameHost(origin: string, host: string): boolean {
  try {
    const { protocol, host: theirs } = new URL(origin);
    // `URL.host` omits the default port of the scheme, on both sides.
    return /^https?:$/.test(protocol) && theirs === new URL(`${protocol}//${host}`).host;
  } catch {
    return false;
  }
}
