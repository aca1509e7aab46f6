/** One client of the streamable transport: its session, its streams, and what it may have missed. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Principal } from "../../kernel/principal.ts";
import { cancelledId } from "../../rpc/cancelled.ts";
import { encode } from "../../rpc/encode.ts";
import { type IdKey, idKey } from "../../rpc/id.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { Batch } from "../../session/batch.ts";
import type { Session } from "../../session/session.ts";
import type { Host } from "../transport.ts";
import { EventLog, type LogBudget } from "./event-log.ts";
import type { HeldReplies } from "./held-replies.ts";
import { Reply, type ReplyOwner } from "./reply.ts";
import { type Unread, writeOrCut } from "./unread.ts";

/** The stream of what belongs to no request; others are counted from 1. */
const STANDING = 0;
/** Requests that one client may have under way. */
const MOST_UNDER_WAY = 1_024;

type Request = Message & { kind: "request" };

/** What all clients of a transport have in common. */
export interface TransportParts {
  readonly host: Host;
  readonly clock: Clock;
  readonly json: boolean;
  readonly stateless: boolean;
  readonly heldReplies: HeldReplies;
  readonly unread: Unread;
  readonly budget: LogBudget;
}

export class HttpSession implements ReplyOwner {
  readonly session: Session;
  readonly principal: Principal;
  readonly #around: TransportParts;
  #log: EventLog | undefined;
  #standing: ServerResponse | undefined;
  readonly #replies = new Set<Reply>();
  readonly #batches = new Map<Batch, Reply>();
  #streams = STANDING;
  #lastUsed: number;
  #onGreeted: ((named: boolean) => void) | undefined;
  /** Somebody knows the id of its session. */
  #named = false;

  constructor(around: TransportParts, principal: Principal) {
    this.#around = around;
    this.principal = principal;
    this.#lastUsed = around.clock.now();
    const send = (message: Message, via: Via): void => this.#send(message, via);
    this.session = around.host.open(send, principal, around.stateless);
  }

  get clock(): Clock {
    return this.#around.clock;
  }

  get heldReplies(): HeldReplies {
    return this.#around.heldReplies;
  }

  get unread(): Unread {
    return this.#around.unread;
  }

  get json(): boolean {
    return this.#around.json;
  }

  get overloaded(): boolean {
    return this.#replies.size >= MOST_UNDER_WAY;
  }

  /** How long nothing was heard of it. To be asked now and then: whoever has a stream open or waits for an answer is being heard of. */
  idleFor(now: number): number {
    if (this.#standing || this.#awaited) this.#lastUsed = now;
    return now - this.#lastUsed;
  }

  /** Somebody waits on one of its requests. A call whose client has gone may last for ever, being about to ask it something. */
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

  /** Several messages at once. What they ask for is answered together, and whatever it causes goes to `response`. */
  batch(messages: readonly (Message | Malformed)[], response: ServerResponse): void {
    const reply = new Reply(this, response, undefined, ++this.#streams);
    const batch: Batch = new Batch(messages, (answers) => {
      this.#batches.delete(batch);
      if (answers.length > 0) reply.send(answers);
      else reply.abandon();
    });
    this.#replies.add(reply);
    this.#batches.set(batch, reply);
    if (batch.asks) reply.streamSoon();
    batch.deliver((message) => this.receive(message, batch));
  }

  /** A request whose answer, and whatever it causes, goes to `response`. */
  request(message: Request, response: ServerResponse): void {
    this.#lastUsed = this.clock.now();
    const reply = new Reply(this, response, message.id, ++this.#streams);
    this.#replies.add(reply);
    reply.streamSoon();
    this.session.receive(message, reply);
  }

  /** The handshake. Its answer names the session, in a header: it is waited for, however long it takes. */
  greet(message: Request, response: ServerResponse, onGreeted: (named: boolean) => void): void {
    this.#onGreeted = onGreeted;
    const reply = new Reply(this, response, message.id, ++this.#streams);
    this.#replies.add(reply);
    this.session.receive(message, reply);
  }

  log(): EventLog | undefined {
    return this.json || this.#around.stateless ? undefined : this.#events();
  }

  answering({ response }: Reply, answer: Message): void {
    if (!this.#onGreeted || answer.kind !== "result" || response.destroyed) return;
    this.#named = true;
    response.setHeader("mcp-session-id", this.session.id);
  }

  done(reply: Reply): void {
    this.#lastUsed = this.clock.now();
    this.#replies.delete(reply);
    this.#onGreeted?.(this.#named);
    this.#onGreeted = undefined;
  }

  /** Opens the stream of what belongs to no request. False: there is one already. */
  listen(response: ServerResponse): boolean {
    if (this.#standing) return false;
    this.#stand(response);
    return true;
  }

  /** Goes on with a stream that broke. False: the id is none of ours. */
  resume(lastEventId: string, response: ServerResponse): boolean {
    const missed = this.#log?.after(lastEventId);
    if (!missed || missed.stream > this.#streams) return false;
    const reply = [...this.#replies].find((other) => other.stream === missed.stream);
    // Such an id was never given: what is still held back goes to where it was asked for.
    if (reply && !reply.streaming) return false;
    if (missed.stream === STANDING) {
      this.#standing?.end();
      this.#stand(response);
    } else startEvents(response);
    for (const event of missed.events) response.write(event);
    if (reply) reply.resume(response);
    else if (missed.stream !== STANDING) response.end();
    return true;
  }

  /** Proxies and dead peers are found out by writing. Forgets what nobody will come back for. */
  beat(): void {
    if (this.#standing?.writableLength === 0) this.#standing.write(": \n\n");
    for (const reply of this.#replies) reply.beat();
    this.#log?.expire(this.clock.now());
  }

  end(reason: Error): void {
    this.session.dismiss(reason);
    this.#standing?.end();
    for (const reply of this.#replies) reply.abandon();
    this.#log?.clear();
    this.#around.host.ended(this.session);
  }

  #send(message: Message, via: Via): void {
    if (via instanceof Reply ? via.send(message) : this.#sendInBatch(message, via)) return;
    const standing = this.#standing;
    if (!standing && message.kind === "request") {
      // A question of which only the client is known may go on any of its streams.
      for (const reply of this.#replies) if (!reply.response.destroyed && reply.send(message)) return;
      // Nobody would ever see it: say so instead of waiting for an answer.
      this.session.unanswerable(message.id);
      return;
    }
    if (this.#around.stateless) return;
    const event = this.#events().add(STANDING, encode(message), this.clock.now());
    if (standing) writeOrCut(standing, event);
  }

  /** False: it belongs to none, or none can carry it. */
  #sendInBatch(message: Message, via: Via): boolean {
    if (!(via instanceof Batch)) return false;
    return via.take(message) || this.#batches.get(via)?.send(message) === true;
  }

  /** A cancelled request gets no answer; its stream must end all the same. */
  #abandon(id: IdKey): void {
    for (const reply of this.#replies) if (reply.id && idKey(reply.id) === id) reply.abandon();
    for (const batch of this.#batches.keys()) batch.cancelled(id);
  }

  #stand(response: ServerResponse): void {
    this.#standing = response;
    startEvents(response);
    response.write(`id: ${this.#events().mark(STANDING)}\ndata: \n\n`);
    response.once("close", () => {
      if (this.#standing !== response) return;
      this.#standing = undefined;
      this.#lastUsed = this.clock.now();
    });
  }

  #events(): EventLog {
    this.#log ??= new EventLog(this.#around.budget);
    return this.#log;
  }
}

function startEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
}
