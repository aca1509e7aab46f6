/**
 * What all requests of one streamable link share: the HTTP client, the session id, the protocol version and
 * the headers. Reads no body.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { encode, lengthOf } from "../../rpc/encode.ts";
import type { Message } from "../../rpc/message.ts";
import type { Brake } from "../brake.ts";
import type { HeadersOf } from "../link.ts";
import { type HttpClient, type HttpRequest, isSuccess, type ResponseHandler } from "./http-client.ts";
import type { StreamOptions } from "./message-stream.ts";

export interface HttpLinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessageBytes: number;
}

export class HttpChannel implements StreamOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessageBytes: number;
  readonly brake: Brake;
  readonly #http: HttpClient;
  #session: string | undefined;
  #proven = false;
  #sharedHeaders: OutgoingHttpHeaders = {};
  #postHeaders: OutgoingHttpHeaders = {};
  /** In the stateless era each message has its own headers. */
  #headersOf: HeadersOf | undefined;

  constructor(http: HttpClient, options: HttpLinkOptions, brake: Brake) {
    this.#http = http;
    this.brake = brake;
    this.clock = options.clock;
    this.log = options.log;
    this.maxMessageBytes = options.maxMessageBytes;
    this.#addHeaders({});
  }

  get where(): string {
    return this.#http.shown;
  }

  /** "proven" once the server accepted a message with the session id. */
  get session(): "none" | "fresh" | "proven" {
    if (this.#session === undefined) return "none";
    return this.#proven ? "proven" : "fresh";
  }

  agreed(protocolVersion: string): void {
    this.#addHeaders({ "mcp-protocol-version": protocolVersion });
  }

  get stateless(): boolean {
    return this.#headersOf !== undefined;
  }

  setStateless(headersOf: HeadersOf | undefined): void {
    this.#headersOf = headersOf;
  }

  /**
   * Call it for every response to a POST. The first one with a session id begins the session, the next
   * success proves it.
   */
  onPostResponse(response: IncomingMessage): void {
    if (!isSuccess(response) || this.#headersOf) return;
    if (this.#session !== undefined) {
      this.#proven = true;
      return;
    }
    const session = response.headers["mcp-session-id"];
    if (typeof session !== "string" || session === "") return;
    this.#session = session;
    this.#addHeaders({ "mcp-session-id": session });
  }

  post(message: Message, answer: ResponseHandler): HttpRequest {
    return this.#post(message, encode(message), answer);
  }

  /** Sends a message that gets no answer. It counts for the brake until the server has taken it. */
  postUnanswered(message: Message, answer: ResponseHandler): HttpRequest {
    const body = encode(message);
    return this.#post(message, body, braked(this.brake, body, answer));
  }

  /** Sends an error answer and ignores the response. */
  refuse(message: Message): void {
    this.postUnanswered(message, { onResponse: (response) => response.resume(), onFailure: () => {} });
  }

  #post(message: Message, body: readonly Buffer[], answer: ResponseHandler): HttpRequest {
    const headers = this.#headersOf
      ? { ...this.#postHeaders, ...this.#headersOf(message) }
      : this.#postHeaders;
    return this.#http.request({ method: "POST", headers, body }, answer);
  }

  /** Opens the stream of the server, or the rest of a broken stream. */
  listen(lastEventId: string | undefined, answer: ResponseHandler): HttpRequest {
    const headers: OutgoingHttpHeaders = { ...this.#sharedHeaders, accept: "text/event-stream" };
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    return this.#http.request({ method: "GET", headers }, answer);
  }

  /** Ends the session at the server. Returns false if there is none. */
  endSession(answer: ResponseHandler): boolean {
    if (this.#session === undefined) return false;
    this.#http.request({ method: "DELETE", headers: this.#sharedHeaders }, answer);
    return true;
  }

  #addHeaders(more: OutgoingHttpHeaders): void {
    this.#sharedHeaders = { ...this.#sharedHeaders, ...more };
    this.#postHeaders = {
      ...this.#sharedHeaders,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
  }
}

/** What an open request costs besides its body: a socket and its buffers. */
const REQUEST_BYTES = 16 * 1024;

/** Handlers that count a message for the brake until the server has taken or refused it. */
export function braked(brake: Brake, body: readonly Buffer[], answer: ResponseHandler): ResponseHandler {
  const taken = brake.count(REQUEST_BYTES + lengthOf(body));
  return {
    onResponse: (response) => {
      taken();
      answer.onResponse(response);
    },
    onFailure: (failure) => {
      taken();
      answer.onFailure(failure);
    },
  };
}
