/**
 * The listener for other replicas. It takes requests that they pass on, and what they ask themselves. It
 * shares no path with the public listener.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { markForwarded } from "../transport/http/forwarded.ts";
import { createChannelServer } from "./channel.ts";
import { ADDRESS, FORWARD, FROM, HOP, HOP_VERSION, MISDIRECTED, OTHER_VERSION, RELEASED, TO } from "./hop.ts";
import { WHO } from "./probe.ts";

/** What may be forwarded: requests of clients and of administrators. */
const FORWARDED = new RegExp(`^${FORWARD}/(metamcp|api/v1)/`);

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

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#server = createChannelServer(parts.key, (request, response) => this.#take(request, response));
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
    else if (FORWARDED.test(url)) this.#forwarded(request, response);
    else {
      const route = [...this.#parts.routes].find(([prefix]) => url.startsWith(prefix));
      if (route) route[1](request, response);
      else response.writeHead(404).end();
    }
  }

  #forwarded(request: IncomingMessage, response: ServerResponse): void {
    const { headers, url = "" } = request;
    if (headers[HOP] !== HOP_VERSION) {
      response.writeHead(OTHER_VERSION, { [HOP]: HOP_VERSION }).end();
      return;
    }
    request.url = url.slice(FORWARD.length);
    const [address, from] = [String(headers[ADDRESS]), String(headers[FROM])];
    markForwarded(request, { address, from, released: headers[RELEASED] !== undefined });
    this.#parts.serve(request, response);
  }
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
