/** What all requests of one streamable link share: the wire, the session, the agreed version. Reads no body. */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { encode } from "../../rpc/encode.ts";
import type { Message } from "../../rpc/message.ts";
import type { HeadersOf } from "../link.ts";
import type { StreamOptions } from "./message-stream.ts";
import { type HttpRequest, isSuccess, type ResponseHandler, type Wire } from "./wire.ts";

export interface LineOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessageBytes: number;
}

export class Line implements StreamOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessageBytes: number;
  readonly #wire: Wire;
  #session: string | undefined;
  #proven = false;
  #shared: OutgoingHttpHeaders = {};
  #posting: OutgoingHttpHeaders = {};
  /** Without sessions each message has headers of its own. */
  #headersOf: HeadersOf | undefined;

  constructor(wire: Wire, options: LineOptions) {
    this.#wire = wire;
    this.clock = options.clock;
    this.log = options.log;
    this.maxMessageBytes = options.maxMessageBytes;
    this.#share({});
  }

  get where(): string {
    return this.#wire.shown;
  }

  /** "proven" once the server took a message that named the session. */
  get session(): "none" | "fresh" | "proven" {
    if (this.#session === undefined) return "none";
    return this.#proven ? "proven" : "fresh";
  }

  agreed(protocolVersion: string): void {
    this.#share({ "mcp-protocol-version": protocolVersion });
  }

  get stateless(): boolean {
    return this.#headersOf !== undefined;
  }

  speak(headersOf: HeadersOf | undefined): void {
    this.#headersOf = headersOf;
  }

  /** To be told of every response to a POST: the first that names a session opens it, what succeeds after proves it. */
  heard(response: IncomingMessage): void {
    if (!isSuccess(response) || this.#headersOf) return;
    if (this.#session !== undefined) {
      this.#proven = true;
      return;
    }
    const session = response.headers["mcp-session-id"];
    if (typeof session !== "string" || session === "") return;
    this.#session = session;
    this.#share({ "mcp-session-id": session });
  }

  post(message: Message, answer: ResponseHandler): HttpRequest {
    const headers = this.#headersOf ? { ...this.#posting, ...this.#headersOf(message) } : this.#posting;
    return this.#wire.request({ method: "POST", headers, body: encode(message) }, answer);
  }

  refuse(message: Message): void {
    this.post(message, { onResponse: (response) => response.resume(), onFailure: () => {} });
  }

  /** A stream of what the server sends unasked, or the rest of one that broke. */
  listen(lastEventId: string | undefined, answer: ResponseHandler): HttpRequest {
    const headers: OutgoingHttpHeaders = { ...this.#shared, accept: "text/event-stream" };
    if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
    return this.#wire.request({ method: "GET", headers }, answer);
  }

  /** Tells the server that the session is over. False where there is none to end. */
  endSession(answer: ResponseHandler): boolean {
    if (this.#session === undefined) return false;
    this.#wire.request({ method: "DELETE", headers: this.#shared }, answer);
    return true;
  }

  #share(more: OutgoingHttpHeaders): void {
    this.#shared = { ...this.#shared, ...more };
    this.#posting = {
      ...this.#shared,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
  }
}
