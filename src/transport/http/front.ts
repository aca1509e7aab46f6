/** The HTTP server all HTTP transports share: who may enter, what is answered without a session, and how it ends. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Principal } from "../../kernel/principal.ts";
import type { Malformed } from "../../rpc/message.ts";
import { INTERNAL_ERROR } from "../../rpc/rpc-error.ts";
import type { Readiness } from "../transport.ts";
import { certificateOf } from "./certificate.ts";
import type { Refused, Verdict } from "./guard.ts";
import { PipelinedResponses } from "./pipelined-responses.ts";

export interface FrontOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

/** One HTTP request, and who sent it. */
export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
}

/** What is to be had at the addresses of a front, and by whom. */
export interface Site {
  /** A promise only where a credential must be checked elsewhere: everybody else waits for nothing. */
  guard(path: string, request: IncomingMessage): Verdict | Promise<Verdict>;
  readiness(): Readiness;
  /** Says in its own form why somebody may not enter. False: in that of JSON-RPC. */
  refuse?(path: string, response: ServerResponse, refused: Refusal): boolean;
  /** Takes what has passed the guard. False: there is nothing at that path. */
  route(path: string, received: Received): boolean;
}

type Exchange = Omit<Received, "principal">;
type Refusal = Pick<Refused, "status" | "reason" | "challenge">;

/** How long a socket may take nothing of what is written to it. */
const STALLED_MS = 30_000;

/** When a place may be free again: nobody knows, but it is soon. */
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

  constructor(options: FrontOptions, site: Site) {
    this.#options = options;
    const behind = new PipelinedResponses();
    const { tls } = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      response.on("error", ignore);
      response.on("timeout", cutStalled);
      if (!response.socket) behind.add(response, request.socket);
      const path = pathOf(request.url);
      const verdict = site.guard(path, request);
      if (!(verdict instanceof Promise)) enter(path, verdict, { request, response });
      else
        verdict.then(
          (late) => enter(path, late, { request, response }),
          () => fail(response),
        );
    };
    const enter = (path: string, verdict: Verdict, { request, response }: Exchange): void => {
      // Probes of orchestrators carry neither token nor origin.
      if (request.method === "GET" && health(path, site, response, verdict.ok)) return;
      // Also where the token is missing: the page may read that it is, and a preflight never carries it.
      if (verdict.cors !== undefined) {
        response.setHeader("access-control-allow-origin", verdict.cors);
        response.setHeader("access-control-expose-headers", EXPOSED);
        response.setHeader("vary", "origin");
      }
      if (request.method === "OPTIONS" && verdict.cors !== undefined) preflight(request, response);
      else if (!verdict.ok) turnAway(verdict);
      else if (!site.route(path, { request, response, principal: verdict.principal }))
        turnAway({ status: 404, reason: "not found" });
      function turnAway(refused: Refusal): void {
        if (site.refuse?.(path, response, refused)) return;
        if (refused.challenge !== undefined) response.setHeader("www-authenticate", refused.challenge);
        refuse(response, refused.status, refused.reason);
      }
    };
    const limits = {
      maxHeaderSize: 16 * 1024,
      requestTimeout: 60_000,
      headersTimeout: 20_000,
      keepAliveTimeout: 65_000,
    };
    this.#server = tls
      ? createTlsServer({ ...limits, ...certificateOf(tls), minVersion: "TLSv1.2" }, listener)
      : createServer(limits, listener);
    this.#server.timeout = STALLED_MS;
  }

  /** Resolves with the address it can be reached at, once it can. */
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

/** What a person can do about it, where that is known. */
function cannotListen(error: NodeJS.ErrnoException, { host, port }: FrontOptions): Error {
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

const ALIVE = ["/healthz", "/health"];

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

/** As many are under way as may be. */
export function refuseFor(response: ServerResponse, what: "sessions" | "requests"): void {
  response.setHeader("retry-after", RETRY_SECONDS);
  refuse(response, 429, `too many ${what} at once: try again later`);
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

/** Why a server is down is for those who may enter: it can be what that server said last. */
function health(path: string, site: Site, response: ServerResponse, trusted: boolean): boolean {
  const alive = ALIVE.includes(path);
  if (!alive && path !== "/readyz") return false;
  const { down: all, ...readiness } = site.readiness();
  const down = trusted ? all : all.map(({ server }) => ({ server }));
  const body = JSON.stringify(alive ? { status: "ok" } : { ...readiness, down });
  response.writeHead(alive || readiness.ready ? 200 : 503, { "content-type": "application/json" }).end(body);
  return true;
}

function pathOf(url = "/"): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}
