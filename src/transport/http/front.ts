/** The HTTP server all HTTP transports share: who may enter, what is answered without a session, and how it ends. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Malformed } from "../../rpc/message.ts";
import { INTERNAL_ERROR } from "../../rpc/rpc-error.ts";
import type { Host } from "../transport.ts";
import { Behind } from "./behind.ts";
import { createGuard, type GuardOptions } from "./guard.ts";

export interface FrontOptions extends GuardOptions {
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

/** Takes what has passed the guard. False: there is nothing at that path. */
export type Route = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;

/** How long a socket may take nothing of what is written to it. */
const STALLED_MS = 30_000;

const EXPOSED = "mcp-session-id";
const ALLOWED = [
  "authorization",
  "content-type",
  "accept",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "last-event-id",
];
/** Parameters of tools may be repeated in headers; which, only the page knows. */
const PARAM_HEADER = /^mcp-param-[a-z0-9_-]+$/;
const CORS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-max-age": "600",
};

export class Front {
  readonly #options: FrontOptions;
  readonly #server: Server;
  #closed: Promise<void> | undefined;

  constructor(options: FrontOptions, host: Host, route: Route) {
    this.#options = options;
    const guard = createGuard(options);
    const behind = new Behind();
    const { tls } = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      response.on("error", ignore);
      response.on("timeout", cutStalled);
      if (!response.socket) behind.add(response, request.socket);
      const path = pathOf(request.url);
      const verdict = guard(request.headers);
      // Probes of orchestrators carry neither token nor origin.
      if (request.method === "GET" && health(path, host, response, verdict.ok)) return;
      // Also where the token is missing: the page may read that it is, and a preflight never carries it.
      if (verdict.cors !== undefined) {
        response.setHeader("access-control-allow-origin", verdict.cors);
        response.setHeader("access-control-expose-headers", EXPOSED);
        response.setHeader("vary", "origin");
      }
      if (request.method === "OPTIONS") preflight(request, response);
      else if (!verdict.ok) refuse(response, verdict.status, verdict.reason);
      else if (!route(path, request, response)) refuse(response, 404, "there is nothing here");
    };
    const limits = {
      maxHeaderSize: 16 * 1024,
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 65_000,
    };
    this.#server = tls
      ? createTlsServer(
          { ...limits, cert: readFileSync(tls.cert), key: readFileSync(tls.key), minVersion: "TLSv1.2" },
          listener,
        )
      : createServer(limits, listener);
    this.#server.timeout = STALLED_MS;
  }

  /** Resolves with the address it can be reached at, once it can. */
  async listen(): Promise<string> {
    const { host, port, tls } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
    return `${tls ? "https" : "http"}://${name}:${given}`;
  }

  /** Takes no new connections; those that are open end with `closeAll`. */
  stop(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
    return this.#closed;
  }

  /** Resolves when it has stopped and the last connection has ended. */
  over(): Promise<void> {
    return new Promise((resolve) => void this.#server.once("close", resolve));
  }

  async closeAll(): Promise<void> {
    const stopped = this.stop();
    this.#server.closeAllConnections();
    await stopped;
  }
}

const ignore = (): void => {};

/** Nothing moved for long: a client that does not read is cut off, one that waits for an answer is not. */
function cutStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/** Refused with a status and a JSON-RPC error that belongs to no request. */
export function refuse(response: ServerResponse, status: number, reason: string, code = -32000): void {
  refuseWith(
    response,
    status,
    JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message: reason } }),
  );
}

/** Something of ours broke. The client is told so, if it still can be. */
export function fail(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, "internal error", INTERNAL_ERROR);
}

/** As far as it could be read, the error says which request it belongs to. */
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
  if (status === 401) headers["www-authenticate"] = 'Bearer realm="metamcp"';
  response.writeHead(status, headers).end(body);
}

function preflight({ headers }: IncomingMessage, response: ServerResponse): void {
  if (!response.hasHeader("access-control-allow-origin"))
    return refuse(response, 403, "this Origin may not connect; --allow-origin adds it");
  const asked = headers["access-control-request-headers"]?.split(",") ?? [];
  const params = asked.map((name) => name.trim().toLowerCase()).filter((name) => PARAM_HEADER.test(name));
  response
    .writeHead(204, { ...CORS, "access-control-allow-headers": [...ALLOWED, ...params].join(", ") })
    .end();
}

/** Why a server is down is for those who may enter: it can be what that server said last. */
function health(path: string, host: Host, response: ServerResponse, trusted: boolean): boolean {
  if (path !== "/healthz" && path !== "/readyz") return false;
  const { ready, down: all } = host.health();
  const down = trusted ? all : all.map(({ server }) => ({ server }));
  const body = JSON.stringify(path === "/healthz" ? { status: "ok" } : { ready, down });
  response
    .writeHead(path === "/healthz" || ready ? 200 : 503, { "content-type": "application/json" })
    .end(body);
  return true;
}

function pathOf(url = "/"): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
