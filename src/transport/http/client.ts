/** One client of the streamable transport: its session, its streams, and what it may have missed. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../../kernel/clock.ts";
import type { Raw } from "../../kernel/raw.ts";
import { encode } from "../../rpc/encode.ts";
import { encodeEvent } from "../../rpc/event-stream.ts";
import { idKey } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import type { Via } from "../../rpc/peer.ts";
import { members } from "../../rpc/slice.ts";
import type { Session } from "../../session/session.ts";
import type { Host } from "../transport.ts";
import { EventLog } from "./event-log.ts";
import { Reply } from "./reply.ts";

/** The stream of what belongs to no request; others are counted from 1. */
const STANDING = 0;

export interface ClientOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly json: boolean;
  readonly stateless: boolean;
}

/** Around the answer of one request. */
interface ReplyWatch {
  before?(answer: Message): void;
  after?(): void;
}

export class Client {
  readonly session: Session;
  readonly #options: ClientOptions;
  #log: EventLog | undefined;
  #standing: ServerResponse | undefined;
  readonly #replies = new Set<Reply>();
  #streams = STANDING;
  #lastUsed: number;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#lastUsed = options.clock.now();
    this.session = options.host.open((message, via) => this.#send(message, via), options.stateless);
  }

  /** How long nothing was heard of it; an open stream or a request under way is being heard of. */
  idleFor(now: number): number {
    return this.#standing || this.#replies.size > 0 ? 0 : now - this.#lastUsed;
  }

  receive(message: Message): void {
    this.#lastUsed = this.#options.clock.now();
    this.session.receive(message);
    if (message.kind === "notification" && message.method === "notifications/cancelled")
      this.#abandon(message.params);
  }

  /** A request whose answer, and whatever it causes, goes to `response`. */
  request(message: Message & { kind: "request" }, response: ServerResponse, watch: ReplyWatch = {}): void {
    const { clock, json, stateless } = this.#options;
    const reply = new Reply(response, {
      id: idKey(message.id),
      clock,
      json,
      before: watch.before,
      log: stateless || json ? undefined : () => this.#events(),
      stream: ++this.#streams,
      done: (done) => {
        this.#lastUsed = clock.now();
        this.#replies.delete(done);
        watch.after?.();
      },
    });
    this.#replies.add(reply);
    this.session.receive(message, reply);
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
    if (!missed) return false;
    const reply = [...this.#replies].find((other) => other.stream === missed.stream);
    if (missed.stream === STANDING) {
      this.#standing?.end();
      this.#stand(response);
    } else startEvents(response);
    for (const { id, data } of missed.events)
      for (const part of encodeEvent([data], id)) response.write(part);
    if (reply) reply.resume(response);
    else if (missed.stream !== STANDING) response.end();
    return true;
  }

  /** Proxies and dead peers are found out by writing. */
  beat(): void {
    this.#standing?.write(": \n\n");
  }

  end(reason: Error): void {
    this.#standing?.end();
    for (const reply of this.#replies) reply.abandon();
    this.session.destroy(reason);
    this.#options.host.ended(this.session);
  }

  #send(message: Message, via: Via): void {
    if (via instanceof Reply && via.send(message)) return;
    const data = encode(message);
    if (!this.#standing && message.kind === "request") {
      // Nobody would ever see it: say so instead of waiting for an answer.
      this.session.unanswerable(message.id);
      return;
    }
    if (this.#options.stateless) return;
    const id = this.#events().add(STANDING, Buffer.concat(data));
    for (const part of encodeEvent(data, id)) this.#standing?.write(part);
  }

  /** A cancelled request gets no answer; its stream must end all the same. */
  #abandon(params: Raw | undefined): void {
    const [id] = params ? members(params, ["requestId"]) : [];
    const key = id && idKey(id);
    for (const reply of this.#replies) if (reply.id === key) reply.abandon();
  }

  #stand(response: ServerResponse): void {
    this.#standing = response;
    startEvents(response);
    response.write(`id: ${this.#events().mark(STANDING)}\ndata: \n\n`);
    response.once("close", () => {
      if (this.#standing !== response) return;
      this.#standing = undefined;
      this.#lastUsed = this.#options.clock.now();
    });
  }

  #events(): EventLog {
    this.#log ??= new EventLog();
    return this.#log;
  }
}

function startEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
}
