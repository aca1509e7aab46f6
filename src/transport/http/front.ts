/** The HTTP server all HTTP transports share: who may enter, what is answered without a session, and how it ends. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Host } from "../transport.ts";
import { createGuard, type GuardOptions } from "./guard.ts";

export interface FrontOptions extends GuardOptions {
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

/** Takes what has passed the guard. False: there is nothing at that path. */
export type Route = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;

const EXPOSED = "mcp-session-id";
const CORS = {
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers":
    "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id",
  "access-control-max-age": "600",
};

export class Front {
  readonly #options: FrontOptions;
  readonly #server: Server;
  #closed: Promise<void> | undefined;

  constructor(options: FrontOptions, host: Host, route: Route) {
    this.#options = options;
    const guard = createGuard(options);
    const { tls } = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      response.on("error", () => {});
      const path = pathOf(request.url);
      // Probes of orchestrators carry neither token nor origin.
      if (request.method === "GET" && health(path, host, response)) return;
      const verdict = guard(request.headers);
      if (verdict.ok && verdict.cors !== undefined) {
        response.setHeader("access-control-allow-origin", verdict.cors);
        response.setHeader("access-control-expose-headers", EXPOSED);
        response.setHeader("vary", "origin");
      }
      // A preflight never carries the token; that it passes says nothing about the request to come.
      if (request.method === "OPTIONS") preflight(response, verdict.ok || verdict.status === 401);
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

  async closeAll(): Promise<void> {
    const stopped = this.stop();
    this.#server.closeAllConnections();
    await stopped;
  }
}

/** Refused with a status and a JSON-RPC error that belongs to no request. */
export function refuse(response: ServerResponse, status: number, reason: string, code = -32000): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message: reason } });
  const headers: Record<string, string | number> = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  if (status === 401) headers["www-authenticate"] = 'Bearer realm="metamcp"';
  response.writeHead(status, headers).end(body);
}

function preflight(response: ServerResponse, allowed: boolean): void {
  if (allowed && response.hasHeader("access-control-allow-origin")) response.writeHead(204, CORS).end();
  else refuse(response, 403, "this Origin may not connect; --allow-origin adds it");
}

function health(path: string, host: Host, response: ServerResponse): boolean {
  if (path !== "/healthz" && path !== "/readyz") return false;
  const { ready, down } = host.health();
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
