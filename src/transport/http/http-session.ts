/**
 * One client of the streamable transport: its session, its open streams, and the log of events it can resume
 * from.
 */

import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import { EVENT_STREAM } from "../../kernel/event-stream-headers.ts";
import { PassingSet } from "../../kernel/passing.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Raw } from "../../kernel/raw.ts";
import { cancelledId } from "../../rpc/cancelled.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import { type IdKey, idKey } from "../../rpc/id.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { Batch } from "../../session/batch.ts";
import type { ResumedSession, Session, Traced } from "../../session/session.ts";
import type { Host } from "../transport.ts";
import { EventLog, type LogBudget } from "./event-log.ts";
import { type EventTag, readTag, writeTag } from "./event-tag.ts";
import type { HeldReplies } from "./held-replies.ts";
import { lostAnswer } from "./lost-answer.ts";
import type { Owners } from "./owners.ts";
import { Reply, type ReplyOwner } from "./reply.ts";
import { type UnreadResponses, writeOrCut } from "./unread-responses.ts";

/**
 * The number of the standalone stream (GET), for messages that belong to no request. Other streams count from
 * 1.
 */
const STANDALONE = 0;
/** Limit of requests in flight of one client. */
const MAX_IN_FLIGHT = 1_024;

type Request = Message & { kind: "request" };

/** Parts that all clients of an endpoint share. */
export interface TransportParts {
  readonly host: Host;
  readonly clock: Clock;
  readonly json: boolean;
  readonly stateless: boolean;
  readonly heldReplies: HeldReplies;
  readonly unread: UnreadResponses;
  readonly budget: LogBudget;
  /** Undefined if no other process has sessions of this endpoint. */
  readonly owners?: Owners | undefined;
}

/** A session that goes on here under the id that its client has. */
export interface ContinuedSession extends ResumedSession {
  readonly publicId: string;
}

export class HttpSession implements ReplyOwner {
  readonly session: Session;
  readonly principal: Principal;
  readonly owner: string;
  readonly #parts: TransportParts;
  #log: EventLog | undefined;
  #standalone: ServerResponse | undefined;
  readonly #replies = new PassingSet<Reply>();
  /** Few clients send batches. */
  #batches: Map<Batch, Reply> | undefined;
  #lastStream = STANDALONE;
  #lastUsed: number;
  #onInitialized: ((named: boolean) => void) | undefined;
  /** The client has been sent the id of its session. */
  #named = false;
  /** The id that the client gets, if it is not the id of the session. */
  #publicId: string | undefined;
  /** The session goes on here, and its client has not been told yet that its lists may have changed. */
  #resumed = false;

  /** `owner`: whose share of the sessions it counts for. */
  constructor(parts: TransportParts, principal: Principal, owner: string, resumed?: ContinuedSession) {
    this.#parts = parts;
    this.principal = principal;
    this.owner = owner;
    this.#lastUsed = parts.clock.now();
    this.#publicId = resumed?.publicId;
    this.#resumed = resumed !== undefined;
    const { owners, stateless } = parts;
    const send = (message: Message, via: Via): void => this.#send(message, via);
    const shared = stateless ? undefined : owners;
    this.session = parts.host.open(send, principal, {
      stateless,
      resumed,
      onHandshake: shared && ((said) => this.#nameBy(shared, said)),
      onKept: shared && ((kept) => shared.keep(this.session.id, kept)),
    });
  }

  /** The id with which requests name this session. */
  get publicId(): string {
    return this.#publicId ?? this.session.id;
  }

  async #nameBy(owners: Owners, said: Raw): Promise<void> {
    this.#publicId = owners.idFor(this.session.id, this.principal, await owners.keepSaid(said));
  }

  /** The end of the ids of events, if other replicas share the sessions. */
  #tag(message?: Request): string {
    const { owners, host } = this.#parts;
    if (!owners) return "";
    if (!message) return writeTag(owners.self);
    return writeTag(owners.self, { id: message.id, safe: host.repeat(message, this.principal) === "safe" });
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get heldReplies(): HeldReplies {
    return this.#parts.heldReplies;
  }

  get unread(): UnreadResponses {
    return this.#parts.unread;
  }

  get json(): boolean {
    return this.#parts.json;
  }

  /** So many more requests would be too many in flight. */
  overloaded(more: number): boolean {
    return this.session.serving + more > MAX_IN_FLIGHT;
  }

  /** The client waits for an answer. */
  get busy(): boolean {
    return this.#awaited;
  }

  /**
   * Milliseconds since the client was last active. An open stream or an awaited answer counts as activity
   * only when this is called, so it must be called regularly.
   */
  idleFor(now: number): number {
    if (this.#standalone || this.#awaited) this.#lastUsed = now;
    return now - this.#lastUsed;
  }

  /**
   * The client still waits for one of its answers. Replies on closed responses do not count: such a call may
   * wait forever for an answer from the client.
   */
  get #awaited(): boolean {
    for (const { response } of this.#replies) if (!response.destroyed) return true;
    return false;
  }

  receive(message: Message | Malformed, via?: Via): void {
    this.#lastUsed = this.clock.now();
    this.session.receive(message, via);
    const id = cancelledId(message);
    if (id !== undefined) this.#abandon(id);
  }

  /** Serves a batch. Its answers, and all messages that it causes, go to `response`. */
  batch(messages: readonly (Message | Malformed)[], response: ServerResponse): void {
    const reply = new Reply(this, response, undefined, ++this.#lastStream);
    const done = (answers: readonly Message[]): void => {
      this.#batches?.delete(batch);
      if (answers.length > 0) reply.send(answers);
      else reply.abandon();
    };
    const batch: Batch & Traced = Object.assign(new Batch(messages, done), { trace: reply.trace });
    this.#replies.add(reply);
    this.#batches ??= new Map();
    this.#batches.set(batch, reply);
    if (batch.expectsAnswers) reply.streamSoon();
    batch.deliver((message) => this.receive(message, batch));
  }

  /** Serves a request. Its answer, and all messages that it causes, go to `response`. */
  request(message: Request, response: ServerResponse): void {
    this.#lastUsed = this.clock.now();
    const reply = new Reply(this, response, message.id, ++this.#lastStream);
    if (this.#parts.owners) {
      let tag: string | undefined;
      reply.tag = () => {
        tag ??= this.#tag(message);
        return tag;
      };
    }
    this.#replies.add(reply);
    reply.streamSoon();
    this.session.receive(message, reply);
  }

  /**
   * Serves `initialize`. The reply never becomes a stream before the answer, because the answer sets the
   * session id header.
   */
  initialize(message: Request, response: ServerResponse, onInitialized: (named: boolean) => void): void {
    this.#onInitialized = onInitialized;
    const reply = new Reply(this, response, message.id, ++this.#lastStream);
    this.#replies.add(reply);
    this.session.receive(message, reply);
  }

  log(): EventLog | undefined {
    return this.json || this.#parts.stateless ? undefined : this.#events();
  }

  answering({ response }: Reply, answer: Message): void {
    if (!this.#onInitialized || answer.kind !== "result" || response.destroyed) return;
    this.#named = true;
    response.setHeader("mcp-session-id", this.publicId);
  }

  done(reply: Reply): void {
    this.#lastUsed = this.clock.now();
    this.#replies.delete(reply);
    this.#onInitialized?.(this.#named);
    this.#onInitialized = undefined;
  }

  /** Opens the standalone stream. Returns false if one is open already. */
  listen(response: ServerResponse): boolean {
    if (this.#standalone) return false;
    this.#openStandalone(response);
    return true;
  }

  /** Resumes a broken stream. Returns false if the event id is unknown. */
  resume(lastEventId: string, response: ServerResponse): boolean {
    const { owners } = this.#parts;
    const tag = owners && readTag(lastEventId);
    if (tag && tag.replica !== owners.self) return this.#resumeLost(tag, response);
    const missed = this.#log?.after(tag?.event ?? lastEventId);
    if (!missed || missed.stream > this.#lastStream) return false;
    const reply = [...this.#replies].find((other) => other.stream === missed.stream);
    // No event id of this stream has been sent yet, so the client cannot know one.
    if (reply && !reply.streaming) return false;
    if (missed.stream === STANDALONE) {
      this.#standalone?.end();
      this.#openStandalone(response);
    } else startEvents(response);
    for (const event of missed.events) response.write(event);
    if (reply) reply.resume(response);
    else if (missed.stream !== STANDALONE) response.end();
    return true;
  }

  /**
   * Resumes a stream of a replica that is gone: a new standalone stream, or the end of a call whose outcome
   * is not known.
   */
  #resumeLost({ request }: EventTag, response: ServerResponse): boolean {
    if (request) {
      startEvents(response);
      response.end(Buffer.concat(encodeEvent(encode(lostAnswer(request)))));
      return true;
    }
    this.#standalone?.end();
    this.#openStandalone(response);
    return true;
  }

  /**
   * Writes to open streams, so that proxies keep them open and dead peers are detected. Drops expired events.
   */
  heartbeat(): void {
    if (this.#standalone?.writableLength === 0) this.#standalone.write(": \n\n");
    for (const reply of this.#replies) reply.heartbeat();
    this.#log?.expire(this.clock.now());
  }

  end(reason: Error): void {
    this.session.dismiss(reason);
    this.#standalone?.end();
    for (const reply of this.#replies) reply.abandon();
    this.#log?.clear();
    this.#parts.host.ended(this.session);
  }

  #send(message: Message, via: Via): void {
    if (via instanceof Reply ? via.send(message) : this.#sendInBatch(message, via)) return;
    const standalone = this.#standalone;
    if (!standalone && message.kind === "request") {
      // A request to the client that belongs to none of its requests may go on any of its streams.
      for (const reply of this.#replies) if (!reply.response.destroyed && reply.send(message)) return;
      // No stream is open, so the client will not see the request. It fails at once instead of waiting for an
      // answer.
      this.session.unanswerable(message.id);
      return;
    }
    if (this.#parts.stateless) return;
    const event = this.#events().add(STANDALONE, encode(message), this.clock.now(), this.#tag());
    if (standalone) writeOrCut(standalone, event);
  }

  /** Returns false if the message belongs to no batch, or the reply of its batch cannot carry it. */
  #sendInBatch(message: Message, via: Via): boolean {
    if (!(via instanceof Batch)) return false;
    return via.take(message) || this.#batches?.get(via)?.send(message) === true;
  }

  /** Ends the reply of a cancelled request, because no answer will end it. */
  #abandon(id: IdKey): void {
    for (const reply of this.#replies) if (reply.id && idKey(reply.id) === id) reply.abandon();
    for (const batch of this.#batches?.keys() ?? []) batch.cancelled(id);
  }

  #openStandalone(response: ServerResponse): void {
    this.#standalone = response;
    startEvents(response);
    response.write(`id: ${this.#events().mark(STANDALONE, this.#tag())}\ndata: \n\n`);
    response.once("close", () => {
      if (this.#standalone !== response) return;
      this.#standalone = undefined;
      this.#lastUsed = this.clock.now();
    });
    // What this client has seen of its lists is known only to the replica that is gone.
    if (this.#resumed) this.session.tellChanges();
    this.#resumed = false;
  }

  #events(): EventLog {
    this.#log ??= new EventLog(this.#parts.budget);
    return this.#log;
  }
}

function startEvents(response: ServerResponse): void {
  response.writeHead(200, EVENT_STREAM);
}
