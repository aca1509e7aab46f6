/**
 * The sockets of one link: requests with its headers, redirects within its origin, and an end that leaves no socket.
 * Knows nothing of MCP. Sends no header to another origin, trusts no bad certificate, reads no proxy variables.
 */
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { urlToHttpOptions } from "node:url";
import type { RemoteSpec } from "../../config/spec.ts";
import { ChildFailure } from "../link.ts";
import { networkFailure, shownUrl } from "./failure.ts";

/** Gives further headers for one request, a bearer token for instance. Wins over the static ones. */
export type Authorize = (spec: RemoteSpec) => Promise<Record<string, string>>;

/** Shorter than the 5 s after which common servers drop idle sockets: a request must not meet a socket that is closing. */
const IDLE_SOCKET_MS = 4_000;
/** Node's 250 ms give up too early on far hosts that have several addresses. */
const ATTEMPT_MS = 1_000;
const MAX_REDIRECTS = 3;
const BIG = 64 * 1024;

export interface Asked {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: readonly Buffer[];
  /** Another place of the same origin than the configured URL. */
  readonly url?: URL;
}

/** Exactly one of these is called, once, unless the exchange is aborted first. */
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

  /** Throws ChildFailure where the spec cannot be used at all. */
  constructor(spec: RemoteSpec, authorize?: Authorize) {
    this.#spec = spec;
    this.#authorize = authorize;
    this.#url = usableUrl(spec);
    this.shown = shownUrl(this.#url);
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
      const target = redirects > 0 ? redirectTarget(asked, response, url) : undefined;
      if (!target) return answer.onResponse(response);
      response.resume();
      if (!asked.url) this.#url = target;
      this.#go(exchange, asked.url ? { ...asked, url: target } : asked, answer, redirects - 1);
    });
    write(request, asked.body ?? []);
  }

  #whenConnected(socket: Socket, request: ClientRequest, exchange: Exchange): void {
    if (request.reusedSocket) exchange.connected = true;
    else
      socket.once(this.#transport === https ? "secureConnect" : "connect", () => {
        exchange.connected = true;
      });
  }

  /** Ends every request; resolves when the last socket is gone. */
  async close(): Promise<void> {
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

const addresses = new WeakMap<URL, http.RequestOptions>();

/** The user info has become a header, and must not become another one on the way. */
function addressOf(url: URL): http.RequestOptions {
  const known = addresses.get(url);
  if (known) return known;
  const { protocol, hostname, port, path } = urlToHttpOptions(url);
  const address = { protocol, hostname, port, path };
  addresses.set(url, address);
  return address;
}

export function isSuccess(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status >= 200 && status <= 299;
}

function usableUrl(spec: RemoteSpec): URL {
  if (!URL.canParse(spec.url))
    throw new ChildFailure("other", "the configured `url` is not a URL", { unsent: true });
  const url = new URL(spec.url);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new ChildFailure("other", `the configured URL has the scheme ${url.protocol}, not http: or https:`, {
    unsent: true,
  });
}

function staticHeaders(spec: RemoteSpec, url: URL): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "user-agent": "metamcp" };
  if (url.username || url.password) {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  for (const [name, value] of Object.entries(spec.headers)) {
    try {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, value);
    } catch {
      throw new ChildFailure("other", `the configured header ${JSON.stringify(name)} cannot be sent`, {
        unsent: true,
      });
    }
    headers[name.toLowerCase()] = value;
  }
  return { ...headers, "accept-encoding": "identity" };
}

function lowerCased(headers: Record<string, string>): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function notAuthorized(where: string, error: unknown): ChildFailure {
  if (error instanceof ChildFailure) return error;
  return new ChildFailure("auth", `no credentials could be got for ${where}`, { unsent: true, cause: error });
}

/** Only what keeps method and body, and only within the origin: headers are secrets. */
function redirectTarget(asked: Asked, response: IncomingMessage, from: URL): URL | undefined {
  const status = response.statusCode ?? 0;
  const keeps =
    status === 307 || status === 308 || (asked.method === "GET" && (status === 301 || status === 302));
  const location = response.headers.location;
  if (!keeps || !location || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}
