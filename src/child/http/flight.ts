/**
 * One request of ours over streamable HTTP, from its POST to its answer: a JSON body, or a stream that is taken up
 * again where it broke if its events had ids. Has no time limit of its own.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import type { ChildFailure } from "../link.ts";
import { readBody } from "./body.ts";
import { badAnswer, networkFailure } from "./failure.ts";
import type { Line } from "./line.ts";
import { isEventStream, readMessages, readStream, tooLargeError } from "./message-stream.ts";
import { MAX_REFUSAL_BYTES } from "./refusal.ts";
import { beginning, resumeDelayMs } from "./resume.ts";
import { type HttpRequest, isSuccess, type ResponseHandler } from "./wire.ts";

/** In a row, without an event in between. */
const MAX_RESUMES = 5;
const STRAY = "answered a different request";

export interface FlightEvents {
  onMessage(message: Message, flight: Flight): void;
  onRefused(response: IncomingMessage, body: Buffer | undefined, flight: Flight): void;
  onFailed(failure: ChildFailure, flight: Flight): void;
  /** The stream has ended, or has been given up. */
  onEnd(flight: Flight): void;
}

export class Flight implements ResponseHandler {
  readonly number: number;
  readonly id: Raw;
  /** "refused": it came back unread, so that it may go elsewhere. */
  phase: "waiting" | "answering" | "refused" = "waiting";
  /** What comes after the answer is passed on; the end of the stream means nothing then. */
  answered = false;
  readonly #line: Line;
  readonly #events: FlightEvents;
  readonly #position = beginning();
  #request: HttpRequest | undefined;
  #resuming: Timer | undefined;

  constructor(id: Raw, line: Line, events: FlightEvents) {
    this.id = id;
    this.number = ownId(id);
    this.#line = line;
    this.#events = events;
  }

  post(message: Message): void {
    this.#request = this.#line.post(message, this);
  }

  /** It stands on a socket at this moment. */
  get live(): boolean {
    return this.#request?.connected === true && !this.#resuming;
  }

  /** It may have arrived. */
  get sent(): boolean {
    return this.phase === "answering" || (this.phase === "waiting" && this.#request?.connected === true);
  }

  abort(): void {
    this.#resuming?.cancel();
    this.#request?.abort();
  }

  onResponse(response: IncomingMessage): void {
    this.#line.heard(response);
    if (!isSuccess(response)) {
      this.#readRefusal(response);
      return;
    }
    this.phase = "answering";
    if (isEventStream(response)) this.#readStream(response);
    else this.#readAnswer(response);
  }

  onFailure(failure: ChildFailure): void {
    this.#events.onFailed(failure, this);
  }

  #readRefusal(response: IncomingMessage): void {
    readBody(response, MAX_REFUSAL_BYTES, (body) => {
      if (this.#request?.aborted) return;
      this.#events.onRefused(response, Buffer.isBuffer(body) ? body : undefined, this);
    });
  }

  #readAnswer(response: IncomingMessage): void {
    const { maxMessageBytes, where } = this.#line;
    readBody(response, maxMessageBytes, (body) => {
      if (this.#request?.aborted) return;
      const unfit = unfitness(response);
      if (unfit) this.#bad(unfit);
      else if (body instanceof Error) this.onFailure(networkFailure(body, where, true));
      else if (body === "too-large") this.#answer(tooLargeError(this.id, maxMessageBytes));
      else if (body.length === 0) this.#bad(`answered a request with ${response.statusCode} and no result`);
      else this.#takeBody(body);
    });
  }

  #takeBody(body: Buffer): void {
    for (const message of readMessages(body)) {
      if (message.kind === "malformed") this.#bad(noMessage(message));
      // An error without an id came as the answer to this request, so that is what it is.
      else if (message.kind === "error" && !message.id) this.#answer({ ...message, id: this.id });
      else if (this.#strays(message)) this.#bad(STRAY);
      else if (message.kind === "result" || message.kind === "error") this.#answer(message);
      else this.#events.onMessage(message, this);
    }
  }

  #answer(message: Message): void {
    this.#events.onMessage(message, this);
    this.#events.onEnd(this);
  }

  #readStream(response: IncomingMessage): void {
    let why = "ended its stream without an answer";
    readStream(response, this.#position, this.#line, {
      onMessage: (message) => {
        if (this.#request?.aborted) return;
        if (this.#strays(message)) why = STRAY;
        this.#events.onMessage(message, this);
      },
      onBadAnswer: (malformed) => {
        if (malformed.id && ownId(malformed.id) === this.number && !this.#request?.aborted)
          this.#bad(noMessage(malformed));
      },
      onEnd: (error) => {
        if (this.#request?.aborted) return;
        const { where } = this.#line;
        if (this.answered) this.#events.onEnd(this);
        else this.#resume(error ? networkFailure(error, where, true) : badAnswer(where, why));
      },
    });
  }

  #strays(message: Message): boolean {
    return (
      (message.kind === "result" || message.kind === "error") && ownId(message.id ?? this.id) !== this.number
    );
  }

  /** `broken` is what the caller hears if it cannot be done. */
  #resume(broken: ChildFailure): void {
    const position = this.#position;
    if (position.lastEventId === undefined || position.attempts >= MAX_RESUMES) {
      this.onFailure(broken);
      return;
    }
    this.#resuming = this.#line.clock.after(resumeDelayMs(position), () => {
      this.#resuming = undefined;
      position.attempts += 1;
      this.#request = this.#line.listen(position.lastEventId, {
        onResponse: (response) => this.#resumed(response, broken),
        onFailure: () => this.#resume(broken),
      });
    });
  }

  #resumed(response: IncomingMessage, broken: ChildFailure): void {
    if (response.statusCode === 200 && isEventStream(response)) {
      this.#position.attempts = 0;
      this.#readStream(response);
      return;
    }
    response.resume();
    if ((response.statusCode ?? 0) >= 500) this.#resume(broken);
    else this.onFailure(broken);
  }

  #bad(what: string): void {
    this.#events.onFailed(badAnswer(this.#line.where, what), this);
  }
}

function noMessage({ reason }: Malformed): string {
  return `answered with something that is not a JSON-RPC message: ${reason}`;
}

function unfitness(response: IncomingMessage): string | undefined {
  if (/^text\/html\b/i.test(response.headers["content-type"] ?? ""))
    return "answered with a web page instead of JSON: is the URL right?";
  const encoding = response.headers["content-encoding"] ?? "identity";
  return encoding === "identity" ? undefined : `answered in ${encoding}, which was not asked for`;
}
