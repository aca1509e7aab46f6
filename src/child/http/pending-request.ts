/**
 * One request over streamable HTTP, from its POST to its answer. The answer is a JSON body or an event
 * stream. A broken stream is resumed if its events had ids. There is no timeout here.
 */
import type { IncomingMessage } from "node:http";
import type { Timer } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import type { ChildFailure } from "../link.ts";
import { readBody } from "./body.ts";
import { badAnswer, networkFailure } from "./failure.ts";
import type { HttpChannel } from "./http-channel.ts";
import { type HttpRequest, isSuccess, type ResponseHandler } from "./http-client.ts";
import { isEventStream, readMessages, readStream, tooLargeError } from "./message-stream.ts";
import { MAX_REFUSAL_BYTES } from "./refusal.ts";
import { resumeDelayMs, streamStart } from "./resume.ts";

/** The most attempts in a row without an event in between. */
const MAX_RESUMES = 5;
const OTHER_REQUEST = "answered a different request";

export interface PendingRequestEvents {
  onMessage(message: Message, pending: PendingRequest): void;
  onRefused(response: IncomingMessage, body: Buffer | undefined, pending: PendingRequest): void;
  onFailed(failure: ChildFailure, pending: PendingRequest): void;
  /** The stream has ended or was abandoned. */
  onEnd(pending: PendingRequest): void;
}

export class PendingRequest implements ResponseHandler {
  readonly number: number;
  readonly id: Raw;
  /** "refused": the server did not process it, so it may be sent on another link. */
  phase: "waiting" | "answering" | "refused" = "waiting";
  /**
   * After the answer, messages on the stream are still forwarded, and the end of the stream is no failure.
   */
  answered = false;
  readonly #channel: HttpChannel;
  readonly #events: PendingRequestEvents;
  readonly #position = streamStart();
  #request: HttpRequest | undefined;
  #resuming: Timer | undefined;

  constructor(id: Raw, channel: HttpChannel, events: PendingRequestEvents) {
    this.id = id;
    this.number = ownId(id);
    this.#channel = channel;
    this.#events = events;
  }

  post(message: Message): void {
    this.#request = this.#channel.post(message, this);
  }

  /** It uses a connected socket at this moment. */
  get isConnected(): boolean {
    return this.#request?.connected === true && !this.#resuming;
  }

  /** It may have reached the server. */
  get sent(): boolean {
    return this.phase === "answering" || (this.phase === "waiting" && this.#request?.connected === true);
  }

  /**
   * Its answer came, on any stream. Returns whether its own stream goes on; a lost stream is not resumed any
   * more.
   */
  settle(): boolean {
    this.answered = true;
    this.#resuming?.cancel();
    return !this.#resuming;
  }

  abort(): void {
    this.#resuming?.cancel();
    this.#request?.abort();
  }

  onResponse(response: IncomingMessage): void {
    this.#channel.onPostResponse(response);
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
    const { maxMessageBytes, where } = this.#channel;
    readBody(response, maxMessageBytes, (body) => {
      if (this.#request?.aborted) return;
      const problem = problemOf(response);
      if (problem) this.#bad(problem);
      else if (body instanceof Error) this.onFailure(networkFailure(body, where, true));
      else if (body === "too-large") this.#answer(tooLargeError(this.id, maxMessageBytes));
      else if (body.length === 0) this.#bad(`answered a request with ${response.statusCode} and no result`);
      else this.#takeBody(body);
    });
  }

  #takeBody(body: Buffer): void {
    for (const message of readMessages(body)) {
      if (message.kind === "malformed") this.#bad(noMessage(message));
      // An error without an id in the response to this request is its answer.
      else if (message.kind === "error" && !message.id) this.#answer({ ...message, id: this.id });
      else if (this.#answersOther(message)) this.#bad(OTHER_REQUEST);
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
    readStream(response, this.#position, this.#channel, {
      onMessage: (message) => {
        if (this.#request?.aborted) return;
        if (this.#answersOther(message)) why = OTHER_REQUEST;
        this.#events.onMessage(message, this);
      },
      onBadAnswer: (malformed) => {
        if (malformed.id && ownId(malformed.id) === this.number && !this.#request?.aborted)
          this.#bad(noMessage(malformed));
      },
      onEnd: (error) => {
        if (this.#request?.aborted) return;
        const { where } = this.#channel;
        if (this.answered) this.#events.onEnd(this);
        else this.#resume(error ? networkFailure(error, where, true) : badAnswer(where, why));
      },
    });
  }

  #answersOther(message: Message): boolean {
    return (
      (message.kind === "result" || message.kind === "error") && ownId(message.id ?? this.id) !== this.number
    );
  }

  /** `broken` is the failure of the request if it has no answer and the stream cannot be resumed. */
  #resume(broken: ChildFailure): void {
    if (this.answered) return this.#events.onEnd(this);
    const position = this.#position;
    if (position.lastEventId === undefined || position.attempts >= MAX_RESUMES) {
      this.onFailure(broken);
      return;
    }
    this.#resuming = this.#channel.clock.after(resumeDelayMs(position), () => {
      this.#resuming = undefined;
      position.attempts += 1;
      this.#request = this.#channel.listen(position.lastEventId, {
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
    this.#events.onFailed(badAnswer(this.#channel.where, what), this);
  }
}

function noMessage({ reason }: Malformed): string {
  return `answered with something that is not a JSON-RPC message: ${reason}`;
}

/** Why the body cannot be an answer, judged by its headers. */
function problemOf(response: IncomingMessage): string | undefined {
  if (/^text\/html\b/i.test(response.headers["content-type"] ?? ""))
    return "answered with a web page instead of JSON: is the URL right?";
  const encoding = response.headers["content-encoding"] ?? "identity";
  return encoding === "identity" ? undefined : `answered in ${encoding}, which was not asked for`;
}
