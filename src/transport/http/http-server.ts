/**
 * The HTTP server that all HTTP transports share. It checks access, answers health probes and CORS
 * preflights, and passes all other requests to its site.
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { type Log, silentLog } from "../../kernel/log.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Malformed } from "../../rpc/message.ts";
import { INTERNAL_ERROR } from "../../rpc/rpc-error.ts";
import type { Readiness } from "../transport.ts";
import { type AccessLogOptions, echoRequestId, logRequest } from "./access-log.ts";
import { certificateOf, ReloadedCertificate } from "./certificate.ts";
import { forwardedOf } from "./forwarded.ts";
import type { Refused, Verdict } from "./guard.ts";

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly log?: Log | undefined;
  /** Set if every request is logged. */
  readonly accessLog?: AccessLogOptions | undefined;
}

/** One HTTP request and its authenticated sender. */
export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
}

/** What the server serves: access checks and routes. */
export interface Site {
  /** Returns a promise only if a credential must be checked elsewhere, so that other requests do not wait. */
  guard(path: string, request: IncomingMessage): Verdict | Promise<Verdict>;
  readiness(): Readiness;
  /** Writes a refusal in the site's own format. Returns false to have it sent as a JSON-RPC error. */
  refuse?(path: string, response: ServerResponse, refused: Refusal): boolean;
  /** Takes a request that has passed the guard. Returns false if nothing is served at that path. */
  route(path: string, received: Received): boolean;
}

type Unauthenticated = Pick<Received, "request" | "response">;
type Refusal = Pick<Refused, "status" | "reason" | "challenge" | "retryAfter">;

/** A socket with unread data is closed when it has accepted no bytes for this long. */
const STALLED_MS = 30_000;

/** A guess: it is not known when the load falls, but usually soon. */
const RETRY_SECONDS = 1;

const EXPOSED = "mcp-session-id, www-authenticate";
const ALLOWED = [
  "authorization",
  "x-api-key",
  "content-type",
  "accept",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "last-event-id",
];
/** Clients may repeat tool parameters in headers. Their names are not known in advance. */
const PARAM_HEADER = /^mcp-param-[a-z0-9_-]+$/;
const CORS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-max-age": "600",
};

export class HttpServer {
  /** Serves a request, also one that came another way. */
  readonly serve: RequestListener;
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #certificate: ReloadedCertificate | undefined;
  #closed: Promise<void> | undefined;
  #draining = false;

  constructor(options: HttpServerOptions, site: Site) {
    this.#options = options;
    const pipelined = new PipelinedResponses();
    const { tls, accessLog, log = silentLog } = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      response.on("error", ignore);
      response.on("timeout", cutStalled);
      if (this.#draining && !forwardedOf(request)) response.setHeader("connection", "close");
      if (!response.socket) pipelined.add(response, request.socket);
      const path = pathOf(request.url);
      const judged = accessLog && logRequest(path, { request, response }, log, accessLog);
      if (!accessLog) echoRequestId(request, response);
      const verdict = site.guard(path, request);
      if (!(verdict instanceof Promise)) {
        judged?.(verdict);
        respond(path, verdict, { request, response });
        return;
      }
      verdict.then(
        (late) => {
          judged?.(late);
          respond(path, late, { request, response });
        },
        () => fail(response),
      );
    };
    const respond = (path: string, verdict: Verdict, { request, response }: Unauthenticated): void => {
      // Health probes of orchestrators send neither a token nor an origin, so they are answered whatever the
      // verdict.
      if (request.method === "GET" && health(path, site, response, verdict)) return;
      // CORS headers are sent even without a valid token: the page must be able to read the 401, and a
      // preflight request never carries the token.
      if (verdict.cors !== undefined) {
        response.setHeader("access-control-allow-origin", verdict.cors);
        response.setHeader("access-control-expose-headers", EXPOSED);
        response.setHeader("vary", "origin");
      }
      if (request.method === "OPTIONS" && verdict.cors !== undefined) preflight(request, response);
      else if (!verdict.ok) sendRefusal(verdict);
      else {
        const { principal } = verdict;
        if (!site.route(path, { request, response, principal }))
          sendRefusal({ status: 404, reason: "not found" });
      }
      function sendRefusal(refused: Refusal): void {
        if (refused.retryAfter !== undefined) response.setHeader("retry-after", refused.retryAfter);
        if (site.refuse?.(path, response, refused)) return;
        if (refused.challenge !== undefined) response.setHeader("www-authenticate", refused.challenge);
        refuse(response, refused.status, refused.reason);
      }
    };
    this.serve = listener;
    const limits = {
      maxHeaderSize: 16 * 1024,
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 65_000,
    };
    if (tls) {
      const server = createTlsServer({ ...limits, ...certificateOf(tls), minVersion: "TLSv1.2" }, listener);
      this.#server = server;
      this.#certificate = new ReloadedCertificate(server, tls, log);
    } else this.#server = createServer(limits, listener);
    this.#server.timeout = STALLED_MS;
  }

  /** Resolves with the base URL once the server accepts connections. */
  async listen(): Promise<string> {
    const { host, port, tls } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) => reject(cannotListen(error, this.#options)));
      this.#server.listen(port, host, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
    return `${tls ? "https" : "http"}://${name}:${given}`;
  }

  /** Reads the certificate again, without waiting until its change is noticed. */
  reload(): void {
    this.#certificate?.reload();
  }

  /**
   * Asks clients and proxies to close their connections after each answer, so that none has to be cut at the
   * stop.
   */
  drain(): void {
    this.#draining = true;
  }

  /** Stops accepting connections and closes idle ones. `closeAll` closes the rest. */
  stop(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  /** Resolves when the server has stopped and the last connection has closed. */
  over(): Promise<void> {
    return new Promise((resolve) => void this.#server.once("close", resolve));
  }

  async closeAll(): Promise<void> {
    const stopped = this.stop();
    this.#server.closeAllConnections();
    await stopped;
  }
}

/** For known errors, returns an error that says what the user can do. */
function cannotListen(error: NodeJS.ErrnoException, { host, port }: HttpServerOptions): Error {
  const explain = (text: string): Error => new Error(text, { cause: error });
  switch (error.code ?? "") {
    case "EADDRINUSE":
      return explain(
        `Port ${port} on ${host} is already in use. Choose another with --port (0 picks a free one), or stop the program that uses it.`,
      );
    case "EACCES":
      return explain(`You may not use port ${port}. Choose one above 1023 with --port.`);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return explain(`This machine has no address ${host}. Choose another with --host.`);
    default:
      return error;
  }
}

const LIVENESS_PATHS = ["/healthz", "/health"];

const ignore = (): void => {};

/**
 * Called when a socket was inactive for `STALLED_MS`. Closes it only if the client has unread data; it may
 * also be waiting for an answer.
 */
function cutStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Sends a status and a JSON-RPC error with the id null. */
export function refuse(response: ServerResponse, status: number, reason: string, code = -32000): void {
  refuseWith(
    response,
    status,
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message: reason } }),
  );
}

/** Refuses with 429 because a limit is reached. */
export function refuseTooMany(response: ServerResponse, what: "sessions" | "requests"): void {
  response.setHeader("retry-after", RETRY_SECONDS);
  refuse(response, 429, `too many ${what} at once: try again later`);
}

/** Reports an internal error, or closes the connection if the response has already begun. */
export function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, "internal error", INTERNAL_ERROR);
}

/** Sends 400 with a JSON-RPC error, which has the id of the request if the id could be read. */
export function refuseMessage(response: ServerResponse, { id, code, reason, meant }: Malformed): void {
  const error = JSON.stringify({ code, message: reason });
  refuseWith(
    response,
    400,
    `{"jsonrpc":"2.0","id":${id && meant !== "answer" ? id.toString() : "null"},"error":${error}}`,
  );
}

function refuseWith(response: ServerResponse, status: number, body: string): void {
  const headers: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  if (status === 401 && !response.hasHeader("www-authenticate"))
    headers["www-authenticate"] = 'Bearer realm="metamcp"';
  response.writeHead(status, headers).end(body);
}

function preflight({ headers }: IncomingMessage, response: ServerResponse): void {
  const asked = headers["access-control-request-headers"]?.split(",") ?? [];
  const params = asked.map((name) => name.trim().toLowerCase()).filter((name) => PARAM_HEADER.test(name));
  response
    .writeHead(204, { ...CORS, "access-control-allow-headers": [...ALLOWED, ...params].join(", ") })
    .end();
}

/**
 * Returns false if the path is not a health path. Only trusted clients see why a server is down, because the
 * reason may quote the server. With a foreign Host or Origin not even names are shown: a web page could read
 * them by DNS rebinding.
 */
function health(path: string, site: Site, response: ServerResponse, verdict: Verdict): boolean {
  const alive = LIVENESS_PATHS.includes(path);
  if (!alive && path !== "/readyz") return false;
  const { down: all, ...readiness } = site.readiness();
  const names = !verdict.ok && verdict.status === 403 ? [] : all.map(({ server }) => ({ server }));
  const down = verdict.ok ? all : names;
  const body = JSON.stringify(alive ? { status: "ok" } : { ...readiness, down });
  response.writeHead(alive || readiness.ready ? 200 : 503, { "content-type": "application/json" }).end(body);
  return true;
}

function pathOf(url = "/"): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/**
 * Tracks responses that wait behind another on the same socket (HTTP pipelining). When the socket closes,
 * Node emits "close" only for the first response; this class emits it for those behind it.
 */
class PipelinedResponses {
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** The response emits "close" when its socket closes, even if it never got the socket. */
  add(response: ServerResponse, socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? this.#begin(socket);
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
  }

  #begin(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>();
    this.#waiting.set(socket, waiting);
    socket.once("close", () => {
      for (const response of waiting) {
        // Node emits "close" itself for a response that has the socket.
        if (response.socket) continue;
        response.destroy();
        response.emit("close");
      }
    });
    return waiting;
  }
}

/**
 * Goes on when the other replicas have been asked, at once if that was not needed. Not for a client that has
 * left.
 */
export function whenKnown(
  asked: Promise<unknown> | undefined,
  response: ServerResponse,
  goOn: () => void,
): void {
  if (!asked) return goOn();
  asked
    .then(() => {
      if (!response.destroyed) goOn();
    })
    .catch(() => fail(response));
}
