/**
 * The reply to one POST. It is held for a moment, so that most answers are one write. It becomes an event
 * stream if the answer takes long or another message comes first.
 */

import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import { EVENT_STREAM } from "../../kernel/event-stream-headers.ts";
import type { Raw } from "../../kernel/raw.ts";
import { type TraceHeaders, traceHeadersIn } from "../../kernel/traceparent.ts";
import { encodeBatch } from "../../rpc/batch.ts";
import { encode, inPieces, lengthOf } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import type { Message } from "../../rpc/message.ts";
import type { EventLog } from "./event-log.ts";
import type { HeldReplies, HeldReply } from "./held-replies.ts";
import { type UnreadResponses, writeOrCut } from "./unread-responses.ts";

export interface ReplyOwner {
  readonly clock: Clock;
  readonly heldReplies: HeldReplies;
  readonly unread: UnreadResponses;
  /** Replies are plain JSON, which can carry only the answer. */
  readonly json: boolean;
  /** The log for resuming streams; undefined if streams cannot be resumed. */
  log(): EventLog | undefined;
  /** Called before the answer is sent. */
  answering?(reply: Reply, answer: Message): void;
  /** Called when the answer has been sent, or when there will be none. */
  done(reply: Reply): void;
}

export class Reply implements HeldReply {
  /** The id of the request; undefined for a batch. */
  readonly id: Raw | undefined;
  /** The number of this stream in its session. */
  readonly stream: number;
  /** Returns the end of the ids of its events, if they have one. */
  tag: (() => string) | undefined;
  readonly #owner: ReplyOwner;
  #response: ServerResponse;
  #state: "held" | "streaming" | "done" = "held";

  constructor(owner: ReplyOwner, response: ServerResponse, id: Raw | undefined, stream: number) {
    this.id = id;
    this.stream = stream;
    this.#owner = owner;
    this.#response = response;
  }

  /** Makes the reply an event stream if there is no answer within 500 to 1,000 ms. */
  streamSoon(): void {
    if (!this.#owner.json) this.#owner.heldReplies.add(this);
  }

  /** The stream has begun, so the client may have an event id to resume with. */
  get streaming(): boolean {
    return this.#state === "streaming";
  }

  /** The trace headers of the HTTP request. */
  get trace(): TraceHeaders | undefined {
    return traceHeadersIn(this.#response.req.headers);
  }

  /** The response that the reply is written to. It changes when the client resumes the stream. */
  get response(): ServerResponse {
    return this.#response;
  }

  /**
   * Sends a message, or the answers to a batch. Returns false if the reply has ended, or is JSON and the
   * message is not the answer. `status` applies only if the reply has not become a stream.
   */
  send(message: Message | readonly Message[], status = 200): boolean {
    const last = !("kind" in message) || message.kind === "result" || message.kind === "error";
    if (this.#state === "done" || (!last && this.#owner.json)) return false;
    if (!last) {
      this.startStream();
      this.#write(message);
      return true;
    }
    if ("kind" in message) this.#owner.answering?.(this, message);
    if (this.#state === "streaming") {
      this.#write(message);
      this.#response.end();
      this.#owner.unread.add(this.#response, this.#response.writableLength);
    } else this.#endWithBody(message, status);
    this.#finish();
    return true;
  }

  /** Continues the stream on another response, because the client has resumed it there. */
  resume(response: ServerResponse): void {
    if (!this.#response.destroyed) this.#response.end();
    this.#response = response;
  }

  /** Ends the reply without an answer. */
  abandon(): void {
    if (this.#state === "done") return;
    if (this.#state === "held" && !this.#response.destroyed) this.#response.writeHead(202);
    this.#response.end();
    this.#finish();
  }

  startStream(): void {
    if (this.#state !== "held") return;
    this.#owner.heldReplies.delete(this);
    this.#state = "streaming";
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, EVENT_STREAM);
    const log = this.#owner.log();
    // An event with an id and no data allows the client to resume from the start of the stream.
    if (log) this.#response.write(`id: ${log.mark(this.stream, this.tag?.())}\ndata: \n\n`);
    else this.#response.flushHeaders();
  }

  /** Writes a comment to the stream, because proxies and clients close streams that are silent for long. */
  heartbeat(): void {
    if (this.#state === "streaming" && this.#response.writableLength === 0)
      writeOrCut(this.#response, ": \n\n");
  }

  #write(message: Message | readonly Message[]): void {
    const data = encoded(message);
    const log = this.#owner.log();
    const bytes = log
      ? log.add(this.stream, data, this.#owner.clock.now(), this.tag?.())
      : Buffer.concat(encodeEvent(data));
    writeOrCut(this.#response, bytes);
  }

  /** Writes the answer as the whole response, with its length. */
  #endWithBody(message: Message | readonly Message[], status: number): void {
    const response = this.#response;
    if (response.destroyed) return;
    // A client may not parse an event stream with an error status.
    const json = this.#owner.json || status !== 200;
    const body = json ? encoded(message) : encodeEvent(encoded(message));
    const bytes = lengthOf(body);
    response.writeHead(status, {
      "content-type": json ? "application/json" : "text/event-stream",
      "content-length": bytes,
    });
    const pieces = inPieces(body, bytes);
    const last = pieces.pop();
    if (pieces.length > 0) response.cork();
    for (const piece of pieces) response.write(piece);
    response.end(last);
    this.#owner.unread.add(response, bytes);
  }

  #finish(): void {
    if (this.#state === "held") this.#owner.heldReplies.delete(this);
    this.#state = "done";
    this.#owner.done(this);
  }
}

function encoded(message: Message | readonly Message[]): Buffer[] {
  return "kind" in message ? encode(message) : encodeBatch(message);
}
