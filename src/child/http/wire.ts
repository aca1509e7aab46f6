/**
 * The sockets of one link: requests with its headers, redirects within its origin, and an end that leaves no socket.
 * Knows nothing of MCP. Sends no header to another origin, trusts no bad certificate, reads no proxy variables.
 */
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { RemoteSpec } from "../../config/spec.ts";
import { shownUrl } from "../../kernel/secret.ts";
import { ChildFailure } from "../link.ts";
import { networkFailure } from "./failure.ts";
import { addressOf, redirectTarget, staticHeaders, usableUrl } from "./target.ts";

/** Gives further headers for one request, a bearer token for instance. Wins over the static ones. */
export type Authorize = (spec: RemoteSpec) => Promise<Record<string, string>>;

/** Shorter than the 5 s after which common servers drop idle sockets: a request must not meet a socket that is closing. */
const IDLE_SOCKET_MS = 4_000;
/** Node's 250 ms give up too early on far hosts that have several addresses. */
const ATTEMPT_MS = 1_000;
const MAX_REDIRECTS = 3;
const BIG = 16 * 1024;

export interface Asked {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: readonly Buffer[];
  /** Another place of the same origin than the configured URL. */
  readonly url?: URL;
}

/** Exactly one of these is called, once, unless the exchange is aborted or the wire closed first. */
export interface Answer {
  onResponse(response: IncomingMessage): void;
  onFailure(failure: ChildFailure): void;
}

/** One request under way. */
export class Exchange {
  /** It is on a socket that stands, so that it may have arrived. */
  connected = false;
  aborted = false;
  #request: ClientRequest | undefined;

  carriedBy(request: ClientRequest): void {
    this.#request = request;
  }

  /** Ends request and response; nothing is told after. */
  abort(): void {
    this.aborted = true;
    this.#request?.destroy();
  }
}

export class Wire {
  readonly shown: string;
  readonly #spec: RemoteSpec;
  readonly #authorize: Authorize | undefined;
  readonly #transport: typeof http | typeof https;
  readonly #agent: http.Agent;
  readonly #headers: OutgoingHttpHeaders;
  #url: URL;
  #closed = false;

  /** Throws ChildFailure where the spec cannot be used at all. */
  constructor(spec: RemoteSpec, authorize?: Authorize) {
    this.#spec = spec;
    this.#authorize = authorize;
    this.#url = usableUrl(spec);
    this.shown = shownUrl(this.#url.href);
    this.#headers = staticHeaders(spec, this.#url);
    this.#transport = this.#url.protocol === "https:" ? https : http;
    const options = {
      keepAlive: true,
      timeout: IDLE_SOCKET_MS,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    };
    this.#agent = new this.#transport.Agent(options);
  }

  /** Where requests go: the configured URL, or where it redirected to. */
  get url(): URL {
    return this.#url;
  }

  request(asked: Asked, answer: Answer): Exchange {
    const exchange = new Exchange();
    if (!this.#authorize) {
      this.#go(exchange, asked, answer, MAX_REDIRECTS);
      return exchange;
    }
    this.#authorize(this.#spec).then(
      (extra) => {
        const headers = { ...asked.headers, ...lowerCased(extra) };
        if (!exchange.aborted) this.#go(exchange, { ...asked, headers }, answer, MAX_REDIRECTS);
      },
      (error: unknown) => {
        if (!exchange.aborted) answer.onFailure(notAuthorized(this.shown, error));
      },
    );
    return exchange;
  }

  #go(exchange: Exchange, asked: Asked, answer: Answer, redirects: number): void {
    if (this.#closed) return;
    const url = asked.url ?? this.#url;
    const options = {
      ...addressOf(url),
      agent: this.#agent,
      method: asked.method,
      headers: { ...this.#headers, ...asked.headers },
    };
    let request: ClientRequest;
    try {
      request = this.#transport.request(options);
    } catch (error) {
      // A header that may not be sent; the text of such an error names it, the value stays out.
      const failure = networkFailure(error as Error, this.shown, false);
      queueMicrotask(() => exchange.aborted || answer.onFailure(failure));
      return;
    }
    exchange.carriedBy(request);
    let answered = false;
    request.once("socket", (socket) => this.#whenConnected(socket, request, exchange));
    request.on("error", (error) => {
      if (exchange.aborted || answered) return;
      answered = true;
      answer.onFailure(networkFailure(error, this.shown, exchange.connected));
    });
    request.once("response", (response) => {
      answered = true;
      const target = redirects > 0 ? redirectTarget(asked.method, response, url) : undefined;
      if (!target) return answer.onResponse(response);
      response.resume();
      exchange.connected = false;
      if (!asked.url) this.#url = target;
      this.#go(exchange, asked.url ? { ...asked, url: target } : asked, answer, redirects - 1);
    });
    write(request, asked.body ?? []);
  }

  #whenConnected(socket: Socket, request: ClientRequest, exchange: Exchange): void {
    const connected = (): void => {
      exchange.connected = true;
    };
    if (request.reusedSocket) connected();
    else socket.once(this.#transport === https ? "secureConnect" : "connect", connected);
  }

  /** Ends every request; resolves when the last socket is gone. */
  async close(): Promise<void> {
    this.#closed = true;
    const sockets = [this.#agent.sockets, this.#agent.freeSockets].flatMap((byName) =>
      Object.values(byName).flatMap((list) => list ?? []),
    );
    const gone = sockets.map(
      (socket) => new Promise<void>((done) => (socket.closed ? done() : socket.once("close", () => done()))),
    );
    this.#agent.destroy();
    await Promise.all(gone);
  }
}

/** Small bodies leave in one write; big payloads are not copied. */
function write(request: ClientRequest, body: readonly Buffer[]): void {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  if (bytes <= BIG) {
    request.end(bytes === 0 ? undefined : Buffer.concat(body, bytes));
    return;
  }
  request.setHeader("content-length", bytes);
  for (const part of body) request.write(part);
  request.end();
}

export function isSuccess(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status >= 200 && status <= 299;
}

function lowerCased(headers: Record<string, string>): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function notAuthorized(where: string, error: unknown): ChildFailure {
  if (error instanceof ChildFailure) return error;
  return new ChildFailure("auth", `no credentials could be got for ${where}`, { unsent: true, cause: error });
}
