/**
 * A link over the deprecated HTTP+SSE (2024-11-05): one stream brings everything, messages are posted to the endpoint
 * that it names. The end of the stream is the end of the link; nothing is resumed, the protocol has no means to.
 */
import type { IncomingMessage } from "node:http";
import { encode } from "../../rpc/encode.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { ChildFailure, type Link, type LinkEvents } from "../link.ts";
import { readBody } from "./body.ts";
import { badAnswer, networkFailure, statusFailure } from "./failure.ts";
import type { LineOptions } from "./line.ts";
import { isEventStream, readStream } from "./message-stream.ts";
import { MAX_REFUSAL_BYTES, readRefusal } from "./refusal.ts";
import { beginning } from "./resume.ts";
import { type HttpRequest, isSuccess, type Wire } from "./wire.ts";

const INITIALIZED = "notifications/initialized";

export class SseLink implements Link {
  readonly peer: string;
  readonly #wire: Wire;
  readonly #events: LinkEvents;
  readonly #options: LineOptions;
  #stream: HttpRequest | undefined;
  #endpoint: URL | undefined;
  #version: string | undefined;
  /** What waits until the server has heard that the handshake is complete. */
  #held: Message[] | undefined;
  #over = false;
  #ending: Promise<void> | undefined;

  constructor(wire: Wire, events: LinkEvents, options: LineOptions) {
    this.peer = wire.shown;
    this.#wire = wire;
    this.#events = events;
    this.#options = options;
  }

  /** Resolves when the server has named its endpoint. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stream = this.#wire.request(
        { method: "GET", headers: { accept: "text/event-stream" } },
        { onResponse: (response) => this.#listen(response, resolve, reject), onFailure: reject },
      );
    });
  }

  send(message: Message): void {
    if (this.#over) return;
    if (this.#held) this.#held.push(message);
    else this.#post(message);
  }

  agreed(protocolVersion: string): void {
    this.#version = protocolVersion;
  }

  lastWords(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#over = true;
    this.#stream?.abort();
    this.#ending ??= this.#wire.close();
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
      beginning(),
      { where: this.peer, log, maxMessageBytes, refuse },
      {
        onMessage: (message) => {
          if (!this.#over) this.#events.onMessage(message, undefined);
        },
        onBadAnswer: ({ id, reason }) => {
          const what = `answered with something that is not a JSON-RPC message: ${reason}`;
          if (!this.#over && id) this.#events.onFailed(ownId(id), badAnswer(this.peer, what));
        },
        onOther: (type, data) => {
          if (type !== "endpoint" || this.#endpoint) return;
          this.#endpoint = this.#ownPlace(data.toString());
          if (this.#endpoint) opened();
          else refused(badAnswer(this.peer, "returned an endpoint of another origin, which is not trusted"));
        },
        onEnd: (error) => {
          const closed = new ChildFailure("offline", `${this.peer} closed its stream`);
          const failure = error ? networkFailure(error, this.peer, true) : closed;
          if (this.#endpoint) this.#die(failure);
          else refused(failure);
        },
      },
    );
  }

  #ownPlace(reference: string): URL | undefined {
    const { url } = this.#wire;
    if (!URL.canParse(reference, url.href)) return undefined;
    const place = new URL(reference, url);
    return place.origin === url.origin ? place : undefined;
  }

  #post(message: Message): void {
    const initialized = message.kind === "notification" && message.method === INITIALIZED;
    // A request that overtakes this one is refused by servers that take the handshake seriously.
    if (initialized) this.#held = [];
    const headers = {
      "content-type": "application/json",
      ...(this.#version !== undefined && { "mcp-protocol-version": this.#version }),
    };
    const url = this.#endpoint ?? this.#wire.url;
    this.#wire.request(
      { method: "POST", headers, body: encode(message), url },
      {
        onResponse: (response) => {
          if (isSuccess(response)) response.resume();
          else this.#refused(message, response);
          if (initialized) this.#release();
        },
        onFailure: (failure) => {
          this.#failed(message, failure);
          if (initialized) this.#release();
        },
      },
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
      const refused = { where: this.peer, id, session: "none", mask: this.#wire.mask } as const;
      const verdict = readRefusal(response, Buffer.isBuffer(body) ? body : undefined, refused);
      if (verdict instanceof ChildFailure) this.#failed(message, verdict);
      else if (!this.#over) this.#events.onMessage(verdict, undefined);
    });
  }

  #failed(message: Message, failure: ChildFailure): void {
    if (this.#over) return;
    if (message.kind === "request") this.#events.onFailed(ownId(message.id), failure);
    else this.#options.log.debug("a message could not be sent", { url: this.peer, reason: failure.message });
  }

  #die(failure: ChildFailure): void {
    if (this.#over) return;
    void this.close();
    this.#events.onClosed(failure);
  }
}
