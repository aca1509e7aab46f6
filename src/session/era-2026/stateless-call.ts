/**
 * One call of a client of the stateless era, from its first request over questions and retries to its result.
 * It runs once, however often the client comes back; while nobody is there it is parked. Never asks on a stream:
 * a question is an answer of its own, and the client returns with what was asked.
 */
import type { Origin, Uplink } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import { type KnownRoots, noRoots, type Roots, rootsOf } from "../../kernel/roots.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { cannotAsk } from "../../rpc/era-2026/capability.ts";
import { ERA_2026_VERSION, mayAsk } from "../../rpc/era-2026/names.ts";
import { restoreProgress } from "../../rpc/progress.ts";
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, member } from "../../rpc/slice.ts";
import type { ParkedWait } from "../parked.ts";
import { logged } from "./log-level.ts";
import type { PendingReply } from "./pending-reply.ts";
import { withoutId } from "./url-question.ts";

interface Question {
  readonly method: string;
  readonly params: Raw | undefined;
  settle(answer: Raw): void;
  refuse(reason: unknown): void;
}

type Outcome = { readonly result: Raw } | { readonly error: unknown };

/** Who asks, and what holds its requests together. */
export type ClientIdentity = Pick<Origin, "endpoint" | "principal" | "session" | "sessionless" | "unlisted">;

export interface StatelessCallParts {
  readonly client: ClientIdentity;
  readonly capabilities: Raw;
  /** What the client says of itself. */
  readonly about?: Raw | undefined;
  readonly method: string;
  /** Keeps it until its client returns; gives the text that names it. */
  park(run: StatelessCall): string;
  /** It has ended, answered or not. */
  over(run: StatelessCall): void;
}

export class StatelessCall implements ParkedWait {
  readonly origin: Origin;
  readonly uplink: Uplink;
  readonly signal = new CallSignal();
  /** Undefined once it is over: a connection that was opened for it may remember for long who that was. */
  #parts: StatelessCallParts | undefined;
  readonly #questions = new Map<string, Question>();
  /** Answers the client gave before they were asked for. */
  #given = new Map<string, Raw>();
  /** As last declared. */
  #capabilities: Raw;
  #first: PendingReply | undefined;
  #reply: PendingReply | undefined;
  #outcome: Outcome | undefined;
  #asked = 0;
  #asking = false;

  constructor(parts: StatelessCallParts) {
    this.#parts = parts;
    this.#capabilities = parts.capabilities;
    this.uplink = {
      notify: (method, params) => this.#notify(method, params),
      request: (method, params, signal, more) => this.#ask({ method, params, signal, name: more?.name }),
    };
    const { client, capabilities, about } = parts;
    const roots = member(capabilities, "roots") && { roots: this.#roots() };
    this.origin = {
      ...client,
      era2026: true,
      capabilities,
      client: about,
      protocolVersion: ERA_2026_VERSION,
      uplink: this.uplink,
      ...roots,
    };
  }

  /** Begins the work; once. */
  start(reply: PendingReply, given: ReadonlyMap<string, Raw>, work: () => Promise<Raw>): void {
    this.#first = reply;
    this.attach(reply, given);
    work().then(
      (result) => this.#ended({ result }),
      (error: unknown) => this.#ended({ error }),
    );
  }

  /** The client is here, perhaps with answers. */
  attach(reply: PendingReply, given: ReadonlyMap<string, Raw>): void {
    this.#reply = reply;
    this.#capabilities = reply.capabilities;
    this.#given = new Map(given);
    for (const [name, question] of this.#questions) {
      const answer = this.#given.get(name);
      if (answer) question.settle(answer);
      this.#given.delete(name);
    }
    this.#turn();
  }

  /** The client went away in the middle. */
  cancel(reply: PendingReply, reason: string): void {
    if (this.#reply === reply) this.#stop(new MetaMcpError("cancelled", reason));
  }

  giveUp(reason: string): void {
    this.#stop(new MetaMcpError("cancelled", reason));
  }

  #ended(outcome: Outcome): void {
    if (!this.#parts) return;
    this.#outcome = outcome;
    for (const question of this.#questions.values())
      question.refuse(RpcError.of(INTERNAL_ERROR, "the call it belongs to has ended"));
    this.#turn();
  }

  #stop(reason: Error): void {
    this.#reply = undefined;
    this.signal.abort(reason);
    for (const question of this.#questions.values())
      question.refuse(RpcError.of(INTERNAL_ERROR, reason.message));
    this.#leave();
  }

  #leave(): void {
    const parts = this.#parts;
    this.#parts = undefined;
    this.#first = undefined;
    this.#outcome = undefined;
    this.#given.clear();
    parts?.over(this);
  }

  /** Answers if there is something to say and somebody to say it to. */
  #turn(): void {
    const reply = this.#reply;
    if (!reply) return;
    if (this.#outcome) {
      this.#reply = undefined;
      const outcome = this.#outcome;
      this.#leave();
      if ("result" in outcome) reply.complete(outcome.result);
      else reply.fail(outcome.error);
    } else if (this.#questions.size > 0 && !this.#asking) {
      this.#asking = true;
      // What a child asks in one breath is asked in one answer.
      setImmediate(() => this.#putQuestions());
    }
  }

  #putQuestions(): void {
    this.#asking = false;
    const reply = this.#reply;
    const parts = this.#parts;
    if (!reply || !parts || this.#outcome || this.#questions.size === 0) return;
    this.#reply = undefined;
    const requests = [...this.#questions].map(
      ([name, { method, params = EMPTY_OBJECT }]) =>
        [
          name,
          joinObject([
            ["method", toRaw(method)],
            ["params", params],
          ]),
        ] as const,
    );
    reply.ask(joinObject(requests), parts.park(this));
  }

  #ask(asked: {
    method: string;
    params: Raw | undefined;
    signal: Signal;
    name?: string | undefined;
  }): Promise<Raw> {
    const { method, params, signal } = asked;
    const refusal = this.#cannotAsk(method, params);
    if (refusal)
      return Promise.reject(
        RpcError.of(METHOD_NOT_FOUND, `${method} cannot be put to the client: ${refusal}`),
      );
    const name = this.#nameOf(asked);
    const given = this.#given.get(name);
    if (given) {
      // Good for one question: a child that asks again did not like the answer.
      this.#given.delete(name);
      return Promise.resolve(given);
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#questions.delete(name);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      this.#questions.set(name, {
        method,
        params: withoutId(method, params),
        settle(answer) {
          leave();
          resolve(answer);
        },
        refuse(reason) {
          leave();
          reject(reason as Error);
        },
      });
      signal.addEventListener("abort", onAbort);
      this.#turn();
    });
  }

  /** Good for this call alone: nobody can tell whether the next one comes from the same client. */
  #roots(): Roots {
    let known: KnownRoots | undefined;
    let asking: Promise<KnownRoots> | undefined;
    const ask = async (): Promise<KnownRoots> => {
      const asked = { method: "roots/list", params: undefined, signal: this.signal };
      known = await this.#ask(asked).then(rootsOf, (error: Error) => noRoots(error.message));
      return known;
    };
    return {
      costly: true,
      get known() {
        return known;
      },
      ask: () => {
        asking ??= ask();
        return asking;
      },
    };
  }

  #cannotAsk(method: string, params: Raw | undefined): string | undefined {
    if (!this.#parts || this.#outcome) return "the call it belongs to has ended";
    const { method: asking } = this.#parts;
    if (!mayAsk(asking)) return `${asking} cannot ask questions`;
    return cannotAsk(this.#capabilities, method, params);
  }

  /** The child's own name for it where it is free. */
  #nameOf({ method, name }: { method: string; name?: string | undefined }): string {
    this.#asked += 1;
    if (name !== undefined && !this.#questions.has(name)) return name;
    return `${method.slice(0, method.indexOf("/"))}-${this.#asked}`;
  }

  /** Streams of this era carry what belongs to their request and nothing else. */
  #notify(method: string, params: Raw | undefined): void {
    const reply = this.#reply;
    if (!reply || !params) return;
    if (method === "notifications/message") {
      if (logged(params, reply.logLevel)) reply.notify(method, params);
    } else if (method === "notifications/progress" && reply.progressToken) {
      // Each attempt has its own token.
      const own = reply === this.#first ? params : restoreProgress(params, reply.progressToken);
      reply.notify(method, own);
    }
  }
}
