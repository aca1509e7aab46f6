/**
 * The sockets of one link: requests with its headers, redirects within its origin, and an end that leaves no socket.
 * Knows nothing of MCP. Sends no header to another origin, trusts no bad certificate, reads no proxy variables.
 */
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { maskFor, secretsOf } from "../../config/secrets.ts";
import type { RemoteSpec } from "../../config/spec.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Mask, maskOf } from "../../kernel/secret.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import { ChildFailure } from "../link.ts";
import type { Authorization, Authorize, Credential } from "./authorization.ts";
import { denialOf, deniedFailure, networkFailure } from "./failure.ts";
import { addressOf, redirectTarget, staticHeaders, usableUrl } from "./target.ts";

/** Shorter than the 5 s after which common servers drop idle sockets: a request must not meet a socket that is closing. */
const IDLE_SOCKET_MS = 4_000;
/** Node's 250 ms give up too early on far hosts that have several addresses. */
const ATTEMPT_MS = 1_000;
const MAX_REDIRECTS = 3;
const BIG = 16 * 1024;

export interface WireRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: OutgoingHttpHeaders;
  readonly body?: readonly Buffer[];
  /** Another place of the same origin than the configured URL. */
  readonly url?: URL;
}

/** Exactly one of these is called, once, unless the request is aborted or the wire closed first. */
export interface ResponseHandler {
  onResponse(response: IncomingMessage): void;
  onFailure(failure: ChildFailure): void;
}

/** One request under way. */
export class HttpRequest {
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
  readonly #authorization: Authorization | undefined;
  readonly #spec: RemoteSpec;
  readonly #transport: typeof http | typeof https;
  readonly #agent: http.Agent;
  readonly #headers: OutgoingHttpHeaders;
  #url: URL;
  /** The last one that was shown. */
  #credential: Credential | undefined;
  #closed = false;

  /** Throws ChildFailure where the spec cannot be used at all. */
  constructor(spec: RemoteSpec, authorize?: Authorize) {
    this.#url = usableUrl(spec);
    this.shown = shownUrl(this.#url.href);
    this.#headers = staticHeaders(spec, this.#url);
    this.#spec = spec;
    // What the user configured wins.
    this.#authorization = this.#headers["authorization"] === undefined ? authorize?.(spec) : undefined;
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

  /** Takes out what must not be repeated, even if the server does. */
  get mask(): Mask {
    return this.#credential
      ? maskOf([...secretsOf(this.#spec), this.#credential.header])
      : maskFor(this.#spec);
  }

  request(asked: WireRequest, answer: ResponseHandler): HttpRequest {
    const sent = new HttpRequest();
    const credential = this.#authorization?.current();
    if (!(credential instanceof Promise)) {
      this.#show(credential, sent, asked, answer);
      return sent;
    }
    credential.then(
      (got) => sent.aborted || this.#show(got, sent, asked, answer),
      (error: unknown) => sent.aborted || answer.onFailure(notAuthorized(this.shown, error)),
    );
    return sent;
  }

  #show(
    credential: Credential | undefined,
    sent: HttpRequest,
    asked: WireRequest,
    answer: ResponseHandler,
  ): void {
    const authorization = this.#authorization;
    if (!credential || !authorization) {
      this.#go(sent, asked, answer, MAX_REDIRECTS);
      return;
    }
    if (this.#credential && this.#credential.holder !== credential.holder) {
      queueMicrotask(() => sent.aborted || answer.onFailure(otherHolder(this.shown)));
      return;
    }
    const onResponse = (response: IncomingMessage): void => {
      const denial = denialOf(response);
      if (denial === undefined) return answer.onResponse(response);
      response.resume();
      const failed = (reason: string): void =>
        void (sent.aborted || answer.onFailure(deniedFailure(response, this.shown, reason)));
      authorization.instead(credential, denial).then(
        (other) => {
          if (typeof other === "string") failed(other);
          else if (!sent.aborted) this.#again(other, sent, asked, answer);
        },
        (error: unknown) => failed(reasonOf(error)),
      );
    };
    this.#present(credential, sent, asked, { ...passing(answer), onResponse });
  }

  /** The second attempt is the last one. */
  #again(credential: Credential, sent: HttpRequest, asked: WireRequest, answer: ResponseHandler): void {
    if (this.#credential?.holder !== credential.holder) return answer.onFailure(otherHolder(this.shown));
    sent.connected = false;
    const onResponse = (response: IncomingMessage): void => {
      if (response.statusCode === 401) this.#authorization?.inVain();
      answer.onResponse(response);
    };
    this.#present(credential, sent, asked, { ...passing(answer), onResponse });
  }

  #present(credential: Credential, sent: HttpRequest, asked: WireRequest, answer: ResponseHandler): void {
    this.#credential = credential;
    const headers = { ...asked.headers, authorization: credential.header };
    this.#go(sent, { ...asked, headers }, answer, MAX_REDIRECTS);
  }

  #go(sent: HttpRequest, asked: WireRequest, answer: ResponseHandler, redirects: number): void {
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
      queueMicrotask(() => sent.aborted || answer.onFailure(failure));
      return;
    }
    sent.carriedBy(request);
    let answered = false;
    request.once("socket", (socket) => this.#whenConnected(socket, request, sent));
    request.on("error", (error) => {
      if (sent.aborted || answered) return;
      answered = true;
      answer.onFailure(networkFailure(error, this.shown, sent.connected));
    });
    request.once("response", (response) => {
      answered = true;
      const target = redirects > 0 ? redirectTarget(asked.method, response, url) : undefined;
      if (!target) return answer.onResponse(response);
      response.resume();
      sent.connected = false;
      if (!asked.url) this.#url = target;
      this.#go(sent, asked.url ? { ...asked, url: target } : asked, answer, redirects - 1);
    });
    write(request, asked.body ?? []);
  }

  #whenConnected(socket: Socket, request: ClientRequest, sent: HttpRequest): void {
    const connected = (): void => {
      sent.connected = true;
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

function passing(answer: ResponseHandler): Pick<ResponseHandler, "onFailure"> {
  return { onFailure: (failure) => answer.onFailure(failure) };
}

function notAuthorized(where: string, error: unknown): ChildFailure {
  return new ChildFailure("auth", `${where}: ${reasonOf(error)}`, { unsent: true, cause: error });
}

/** Only what was written to be read: the text of any other error may hold anything. */
function reasonOf(error: unknown): string {
  return MetaMcpError.is(error) ? error.message : "no credentials are available for it";
}

/** The session was begun by someone else; a new link begins one of its own. */
function otherHolder(where: string): ChildFailure {
  return new ChildFailure("other", `${where} now uses another login`, {
    sessionLost: true,
    unsent: true,
  });
}
