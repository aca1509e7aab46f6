/**
 * The listener for other replicas. It takes requests that they pass on, and what they ask themselves. It
 * shares no path with the public listener.
 */
import { type IncomingMessage, type RequestListener, type ServerResponse, STATUS_CODES } from "node:http";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createChannelServer } from "./channel.ts";
import {
  FORWARD,
  FROM,
  HOP,
  HOP_VERSION,
  KEEP_ALIVE_MS,
  MISDIRECTED,
  OTHER_VERSION,
  PROTOCOL,
  TO,
} from "./hop-protocol.ts";
import { PassedRequests } from "./passed-requests.ts";
import { WHO } from "./probe.ts";

/** What may be forwarded: requests of clients and of administrators. */
const FORWARDED = /^\/(metamcp|api\/v1)\//;

export interface ListenerParts {
  readonly key: Buffer;
  /** The id of this replica. */
  readonly self: string;
  /** Serves a request as if it had come from its client. */
  readonly serve: RequestListener;
  /** Paths of the replicas themselves, by what they begin with. */
  readonly routes: ReadonlyMap<string, RequestListener>;
}

export class ReplicaListener {
  readonly #parts: ListenerParts;
  readonly #server: Server;
  /** Connections on which others pass requests on. */
  readonly #passing = new Set<Socket>();

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#server = createChannelServer(parts.key, (request, response) => this.#take(request, response));
    this.#server.on("upgrade", (request: IncomingMessage, socket: Socket, first: Buffer) =>
      this.#upgrade(request, socket, first),
    );
  }

  /** Resolves with HOST:PORT once it accepts connections. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (error) =>
        reject(new Error(`cannot listen on the replica address ${host}:${port}: ${error.message}`)),
      );
      this.#server.listen(port, host, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    return `${host.includes(":") ? `[${host}]` : host}:${given}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
      for (const socket of this.#passing) socket.destroy();
    });
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { headers } = request;
    const url = plainPath(request.url ?? "/");
    request.url = url;
    if (isBrowser(headers)) response.writeHead(403).end();
    else if (url === WHO) response.end(this.#parts.self);
    // The address that a replica gave reaches another one.
    else if (headers[TO] !== this.#parts.self) response.writeHead(MISDIRECTED).end();
    // A version that does not change the protocol first.
    else if (url.startsWith(FORWARD)) response.writeHead(OTHER_VERSION, { [HOP]: HOP_VERSION }).end();
    else {
      const route = [...this.#parts.routes].find(([prefix]) => url.startsWith(prefix));
      if (route) route[1](request, response);
      else response.writeHead(404).end();
    }
  }

  /** The connection is for requests that the other replica passes on. */
  #upgrade({ headers, url }: IncomingMessage, socket: Socket, first: Buffer): void {
    socket.on("error", () => {});
    // Also one that is refused: the server knows none of them any more, and waits for all when it closes.
    this.#passing.add(socket);
    socket.once("close", () => this.#passing.delete(socket));
    if (isBrowser(headers)) return refuse(socket, 403);
    if (url !== FORWARD || headers.upgrade !== PROTOCOL) return refuse(socket, 404);
    if (headers[TO] !== this.#parts.self) return refuse(socket, MISDIRECTED);
    if (headers[HOP] !== HOP_VERSION) return refuse(socket, OTHER_VERSION, `${HOP}: ${HOP_VERSION}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${PROTOCOL}\r\n\r\n`);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const serve: RequestListener = (request, response) => {
      if (FORWARDED.test(request.url ?? "")) this.#parts.serve(request, response);
      else response.writeHead(404).end();
    };
    new PassedRequests(socket, first, { from: String(headers[FROM]), serve });
  }
}

function refuse(socket: Socket, status: number, header = ""): void {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${header}connection: close\r\ncontent-length: 0\r\n\r\n`,
  );
}

/** Without dots that lead to another route. */
function plainPath(path: string): string {
  const base = "http://replica";
  if (!URL.canParse(path, base)) return "/";
  const { pathname, search } = new URL(path, base);
  return pathname + search;
}

function isBrowser(headers: IncomingMessage["headers"]): boolean {
  return Object.keys(headers).some((name) => name === "origin" || name.startsWith("sec-fetch-"));
}
