/**
 * The HTTP client of one link: sends requests with the configured headers, follows redirects within the
 * origin, and closes all sockets. Knows nothing of MCP. It sends no header to another origin, accepts no
 * invalid certificate and ignores proxy variables.
 */
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { maskFor, secretsOf } from "../../config/secrets.ts";
import type { RemoteSpec } from "../../config/spec.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { type Mask, maskOf } from "../../kernel/secret.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import { ChildFailure } from "../link.ts";
import type { Authorization, Authorize, Credential } from "./authorization.ts";
import { denialOf, deniedFailure, networkFailure } from "./failure.ts";
import { addressOf, redirectTarget, staticHeaders, usableUrl } from "./target.ts";

/**
 * Shorter than the 5 s after which common servers close idle sockets, so that no request uses a socket that
 * is closing.
 */
const IDLE_SOCKET_MS = 4_000;
/** Node's default of 250 ms is too short for distant hosts with several addresses. */
const ATTEMPT_MS = 1_000;
const MAX_REDIRECTS = 3;
/** Bodies up to this size are sent in one write. */
const ONE_WRITE_BYTES = 16 * 1024;

export interface RequestOptions {
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: readonly Buffer[];
  /** Another URL of the same origin; by default the configured one. */
  readonly url?: URL;
}

/** One of these is called, once, unless the request is aborted or the client closed before. */
export interface ResponseHandler {
  onResponse(response: IncomingMessage): void;
  onFailure(failure: ChildFailure): void;
}

/** One request in flight. */
export class HttpRequest {
  /** It was sent on a connected socket, so it may have arrived. */
  connected = false;
  aborted = false;
  #request: ClientRequest | undefined;

  attach(request: ClientRequest): void {
    this.#request = request;
  }

  /** Ends request and response. No handler is called afterwards. */
  abort(): void {
    this.aborted = true;
    this.#request?.destroy();
  }
}

export class HttpClient {
  /** The URL as it may be shown to people. */
  readonly shown: string;
  readonly #authorization: Authorization | undefined;
  readonly #spec: RemoteSpec;
  readonly #transport: typeof http | typeof https;
  readonly #agent: http.Agent;
  readonly #headers: OutgoingHttpHeaders;
  #url: URL;
  /** The credential that was sent last. */
  #credential: Credential | undefined;
  #closed = false;

  /** Throws ChildFailure if the URL or a header of the spec is invalid. Closes the agent in the end. */
  constructor(spec: RemoteSpec, authorize?: Authorize, agent?: http.Agent, lookup?: LookupFunction) {
    this.#url = usableUrl(spec);
    this.shown = shownUrl(this.#url.href);
    this.#headers = staticHeaders(spec, this.#url);
    this.#spec = spec;
    // A configured Authorization header takes precedence.
    this.#authorization = this.#headers["authorization"] === undefined ? authorize?.(spec) : undefined;
    this.#transport = this.#url.protocol === "https:" ? https : http;
    const options = {
      keepAlive: true,
      timeout: IDLE_SOCKET_MS,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
      ...(lookup && { lookup }),
    };
    this.#agent = agent ?? new this.#transport.Agent(options);
  }

  /** The configured URL, or the one it redirected to. */
  get url(): URL {
    return this.#url;
  }

  /** Removes secrets from texts of the server, which may repeat what it was sent. */
  get mask(): Mask {
    return this.#credential
      ? maskOf([...secretsOf(this.#spec), this.#credential.header])
      : maskFor(this.#spec);
  }

  request(asked: RequestOptions, answer: ResponseHandler): HttpRequest {
    const sent = new HttpRequest();
    const credential = this.#authorization?.current();
    if (!(credential instanceof Promise)) {
      this.#authorize(credential, sent, asked, answer);
      return sent;
    }
    credential.then(
      (got) => sent.aborted || this.#authorize(got, sent, asked, answer),
      (error: unknown) => sent.aborted || answer.onFailure(notAuthorized(this.shown, error)),
    );
    return sent;
  }

  /**
   * Sends the request with this credential. If the server denies it, the request is sent once more with
   * another one.
   */
  #authorize(
    credential: Credential | undefined,
    sent: HttpRequest,
    asked: RequestOptions,
    answer: ResponseHandler,
  ): void {
    const authorization = this.#authorization;
    if (!credential || !authorization) {
      this.#send(sent, asked, answer, MAX_REDIRECTS);
      return;
    }
    if (this.#credential && this.#credential.holder !== credential.holder) {
      queueMicrotask(() => sent.aborted || answer.onFailure(anotherLogin(this.shown)));
      return;
    }
    const onResponse = (response: IncomingMessage): void => {
      const denial = denialOf(response);
      if (denial === undefined) return answer.onResponse(response);
      response.resume();
      const failed = (reason: string): void =>
        void (sent.aborted || answer.onFailure(deniedFailure(response, this.shown, reason)));
      authorization.replace(credential, denial).then(
        (other) => {
          if (typeof other === "string") failed(other);
          else if (!sent.aborted) this.#sendAgain(other, sent, asked, answer);
        },
        (error: unknown) => failed(reasonOf(error)),
      );
    };
    this.#sendWith(credential, sent, asked, { ...sameFailure(answer), onResponse });
  }

  /** The second and last attempt. */
  #sendAgain(
    credential: Credential,
    sent: HttpRequest,
    asked: RequestOptions,
    answer: ResponseHandler,
  ): void {
    if (this.#credential?.holder !== credential.holder) return answer.onFailure(anotherLogin(this.shown));
    sent.connected = false;
    const onResponse = (response: IncomingMessage): void => {
      if (response.statusCode === 401) this.#authorization?.replacementDenied();
      answer.onResponse(response);
    };
    this.#sendWith(credential, sent, asked, { ...sameFailure(answer), onResponse });
  }

  #sendWith(credential: Credential, sent: HttpRequest, asked: RequestOptions, answer: ResponseHandler): void {
    this.#credential = credential;
    const headers = { ...asked.headers, authorization: credential.header };
    this.#send(sent, { ...asked, headers }, answer, MAX_REDIRECTS);
  }

  #send(sent: HttpRequest, asked: RequestOptions, answer: ResponseHandler, redirects: number): void {
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
      // A header is invalid. The error text names the header and does not contain its value.
      const failure = networkFailure(error as Error, this.shown, false);
      queueMicrotask(() => sent.aborted || answer.onFailure(failure));
      return;
    }
    sent.attach(request);
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
      this.#send(sent, asked.url ? { ...asked, url: target } : asked, answer, redirects - 1);
    });
    write(request, asked.body ?? []);
  }

  #whenConnected(socket: Socket, request: ClientRequest, sent: HttpRequest): void {
    const connected = (): void => {
      sent.connected = true;
    };
    if (request.reusedSocket) connected();
    else socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", connected);
  }

  /** Ends every request; resolves when the last socket is closed. */
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

/** Small bodies are sent in one write. Large ones are not copied. */
function write(request: ClientRequest, body: readonly Buffer[]): void {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  if (bytes <= ONE_WRITE_BYTES) {
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

function sameFailure(answer: ResponseHandler): Pick<ResponseHandler, "onFailure"> {
  return { onFailure: (failure) => answer.onFailure(failure) };
}

function notAuthorized(where: string, error: unknown): ChildFailure {
  return new ChildFailure("auth", `${where}: ${reasonOf(error)}`, { unsent: true, cause: error });
}

/** Only texts of MetaMcpError are shown. The text of any other error may contain secrets. */
function reasonOf(error: unknown): string {
  return MetaMcpError.is(error) ? error.message : "no credentials are available for it";
}

/** The session was begun with another login. A new link must begin its own session. */
function anotherLogin(where: string): ChildFailure {
  return new ChildFailure("other", `${where} now uses another login`, {
    sessionLost: true,
    unsent: true,
  });
}
