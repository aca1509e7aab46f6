/**
 * A link over the deprecated HTTP+SSE (2024-11-05). All messages of the server come on one stream; messages
 * to it are posted to the endpoint that the stream names. The link ends with the stream, because this
 * protocol cannot resume it.
 */
import type { IncomingMessage } from "node:http";
import { encode } from "../../rpc/encode.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { Brake } from "../brake.ts";
import { ChildFailure, type Link, type LinkEvents } from "../link.ts";
import { readBody } from "./body.ts";
import { badAnswer, networkFailure, statusFailure } from "./failure.ts";
import { braked, type HttpLinkOptions } from "./http-channel.ts";
import { type HttpClient, type HttpRequest, isSuccess, type ResponseHandler } from "./http-client.ts";
import { isEventStream, readStream } from "./message-stream.ts";
import { MAX_REFUSAL_BYTES, readRefusal } from "./refusal.ts";
import { streamStart } from "./resume.ts";

/**
 * The most messages that wait for the session. A server could make us answer without end before it accepts an
 * answer.
 */
const MAX_HELD = 10_000;
const INITIALIZED = "notifications/initialized";

export class SseLink implements Link {
  readonly peer: string;
  readonly #http: HttpClient;
  readonly #events: LinkEvents;
  readonly #options: HttpLinkOptions;
  readonly #brake: Brake;
  #stream: HttpRequest | undefined;
  #endpoint: URL | undefined;
  #version: string | undefined;
  /** Messages that wait until `notifications/initialized` was accepted; undefined if none wait. */
  #held: Message[] | undefined;
  #ended = false;
  #ending: Promise<void> | undefined;

  constructor(http: HttpClient, events: LinkEvents, options: HttpLinkOptions) {
    this.peer = http.shown;
    this.#http = http;
    this.#events = events;
    this.#options = options;
    const onStuck = (reason: string): void => this.#fail(new ChildFailure("other", reason));
    this.#brake = new Brake({ clock: options.clock, onStuck });
  }

  /** Resolves when the server has sent its endpoint. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream = this.#http.request(
        { method: "GET", headers: { accept: "text/event-stream" } },
        { onResponse: (response) => this.#listen(response, resolve, reject), onFailure: reject },
      );
    });
  }

  send(message: Message): void {
    if (this.#ended) return;
    if (!this.#held) this.#post(message);
    else if (this.#held.push(message) > MAX_HELD)
      this.#fail(badAnswer(this.peer, "sent too many messages before the session was ready"));
  }

  agreed(protocolVersion: string): void {
    this.#version = protocolVersion;
  }

  lastWords(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#ended = true;
    this.#brake.release();
    this.#stream?.abort();
    this.#ending ??= this.#http.close();
    return this.#ending;
  }

  #listen(response: IncomingMessage, opened: () => void, refused: (failure: ChildFailure) => void): void {
    if (response.statusCode !== 200 || !isEventStream(response)) {
      response.resume();
      const noStream = badAnswer(this.peer, 'is not an SSE server; a newer one needs `type: "http"`');
      refused(isSuccess(response) ? noStream : statusFailure(response, this.peer));
      return;
    }
    const { log, maxMessageBytes } = this.#options;
    const refuse = (message: Message): void => this.send(message);
    readStream(
      response,
      streamStart(),
      { where: this.peer, log, maxMessageBytes, refuse, brake: this.#brake },
      {
        onMessage: (message) => {
          if (!this.#ended) this.#events.onMessage(message, undefined);
        },
        onBadAnswer: ({ id, reason }) => {
          const what = `answered with something that is not a JSON-RPC message: ${reason}`;
          if (!this.#ended && id) this.#events.onFailed(ownId(id), badAnswer(this.peer, what));
        },
        onOther: (type, data) => {
          if (type !== "endpoint" || this.#endpoint) return;
          this.#endpoint = this.#sameOrigin(data.toString());
          if (this.#endpoint) opened();
          else refused(badAnswer(this.peer, "returned an endpoint of another origin, which is not trusted"));
        },
        onEnd: (error) => {
          const closed = new ChildFailure("offline", `${this.peer} closed its stream`);
          const failure = error ? networkFailure(error, this.peer, true) : closed;
          if (this.#endpoint) this.#fail(failure);
          else refused(failure);
        },
      },
    );
  }

  #sameOrigin(reference: string): URL | undefined {
    const { url } = this.#http;
    if (!URL.canParse(reference, url.href)) return undefined;
    const target = new URL(reference, url);
    return target.origin === url.origin ? target : undefined;
  }

  #post(message: Message): void {
    const initialized = message.kind === "notification" && message.method === INITIALIZED;
    // Strict servers refuse a request that arrives before this notification.
    if (initialized) this.#held = [];
    const headers = {
      "content-type": "application/json",
      ...(this.#version !== undefined && { "mcp-protocol-version": this.#version }),
    };
    const url = this.#endpoint ?? this.#http.url;
    const answer: ResponseHandler = {
      onResponse: (response) => {
        if (isSuccess(response)) response.resume();
        else this.#refused(message, response);
        if (initialized) this.#release();
      },
      onFailure: (failure) => {
        this.#failed(message, failure);
        if (initialized) this.#release();
      },
    };
    const body = encode(message);
    this.#http.request(
      { method: "POST", headers, body, url },
      message.kind === "request" ? answer : braked(this.#brake, body, answer),
    );
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.send(message);
  }

  #refused(message: Message, response: IncomingMessage): void {
    const id = message.kind === "request" ? ownId(message.id) : undefined;
    readBody(response, MAX_REFUSAL_BYTES, (body) => {
      const refused = { where: this.peer, id, session: "none", mask: this.#http.mask } as const;
      const verdict = readRefusal(response, Buffer.isBuffer(body) ? body : undefined, refused);
      if (verdict instanceof ChildFailure) this.#failed(message, verdict);
      else if (!this.#ended) this.#events.onMessage(verdict, undefined);
    });
  }

  #failed(message: Message, failure: ChildFailure): void {
    if (this.#ended) return;
    if (message.kind === "request") this.#events.onFailed(ownId(message.id), failure);
    else this.#options.log.debug("a message could not be sent", { url: this.peer, reason: failure.message });
  }

  #fail(failure: ChildFailure): void {
    if (this.#ended) return;
    void this.close();
    this.#events.onClosed(failure);
  }
}
