/**
 * One call of a client of the stateless era, from its first request through questions and retries to its
 * result. The work runs once, however often the client retries; between two attempts the call is parked.
 * Questions are never sent as requests on a stream: the answer to an attempt carries them, and the client
 * retries with the answers.
 */
import type { Origin, Uplink } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { EMPTY_OBJECT, type Raw, scalarOf, toRaw } from "../../kernel/raw.ts";
import { type KnownRoots, noRoots, type Roots, rootsOf } from "../../kernel/roots.ts";
import { compareSeverity, isSeverity } from "../../kernel/severity.ts";
import { CallSignal, type Signal } from "../../kernel/signal.ts";
import { cannotAsk } from "../../rpc/era-2026/capability.ts";
import { ERA_2026_VERSION, mayAsk } from "../../rpc/era-2026/names.ts";
import { restoreProgress } from "../../rpc/progress.ts";
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, member } from "../../rpc/slice.ts";
import type { ParkedWait } from "../parked.ts";
import type { PendingReply } from "./pending-reply.ts";
import { withoutId } from "./url-question.ts";

interface Question {
  readonly method: string;
  readonly params: Raw | undefined;
  settle(answer: Raw): void;
  refuse(reason: unknown): void;
}

type Outcome = { readonly result: Raw } | { readonly error: unknown };

/** Identifies the client and the session, if any, that its requests share. */
export type ClientIdentity = Pick<Origin, "endpoint" | "principal" | "session" | "sessionless" | "unlisted">;

export interface StatelessCallParts {
  readonly client: ClientIdentity;
  readonly capabilities: Raw;
  /** The client's `clientInfo`. */
  readonly about?: Raw | undefined;
  readonly method: string;
  /** Keeps the call until its client retries. Returns the `requestState` that names it. */
  park(call: StatelessCall): string;
  /** Called when the call has ended, answered or not. */
  onEnd(call: StatelessCall): void;
}

export class StatelessCall implements ParkedWait {
  readonly origin: Origin;
  readonly uplink: Uplink;
  readonly signal = new CallSignal();
  /**
   * Undefined once the call has ended, to free memory: a connection opened for it may refer to this object
   * for long.
   */
  #parts: StatelessCallParts | undefined;
  /** Questions without an answer, keyed by name. */
  readonly #questions = new Map<string, Question>();
  /** Answers that the client sent to questions not asked yet. */
  #given = new Map<string, Raw>();
  /** As declared by the last attempt. */
  #capabilities: Raw;
  #first: PendingReply | undefined;
  /** The attempt that waits for an answer; undefined while the call is parked. */
  #reply: PendingReply | undefined;
  #outcome: Outcome | undefined;
  #asked = 0;
  #questionsScheduled = false;

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

  /** Starts the work. Must be called once. */
  start(reply: PendingReply, given: ReadonlyMap<string, Raw>, work: () => Promise<Raw>): void {
    this.#first = reply;
    this.attach(reply, given);
    work().then(
      (result) => this.#ended({ result }),
      (error: unknown) => this.#ended({ error }),
    );
  }

  /** Continues with a new attempt of the client, which may carry answers. */
  attach(reply: PendingReply, given: ReadonlyMap<string, Raw>): void {
    this.#reply = reply;
    this.#capabilities = reply.capabilities;
    this.#given = new Map(given);
    for (const [name, question] of this.#questions) {
      const answer = this.#given.get(name);
      if (answer) question.settle(answer);
      this.#given.delete(name);
    }
    this.#answerIfReady();
  }

  /** Aborts the call if this attempt still waits for an answer. */
  cancel(reply: PendingReply, reason: string): void {
    if (this.#reply === reply) this.#abort(new MetaMcpError("cancelled", reason));
  }

  giveUp(reason: string): void {
    this.#abort(new MetaMcpError("cancelled", reason));
  }

  #ended(outcome: Outcome): void {
    if (!this.#parts) return;
    this.#outcome = outcome;
    for (const question of this.#questions.values())
      question.refuse(RpcError.of(INTERNAL_ERROR, "the call it belongs to has ended"));
    this.#answerIfReady();
  }

  #abort(reason: Error): void {
    this.#reply = undefined;
    this.signal.abort(reason);
    for (const question of this.#questions.values())
      question.refuse(RpcError.of(INTERNAL_ERROR, reason.message));
    this.#finish();
  }

  #finish(): void {
    const parts = this.#parts;
    this.#parts = undefined;
    this.#first = undefined;
    this.#outcome = undefined;
    this.#given.clear();
    parts?.onEnd(this);
  }

  /** If an attempt waits, answers it with the outcome or schedules the open questions. */
  #answerIfReady(): void {
    const reply = this.#reply;
    if (!reply) return;
    if (this.#outcome) {
      this.#reply = undefined;
      const outcome = this.#outcome;
      this.#finish();
      if ("result" in outcome) reply.complete(outcome.result);
      else reply.fail(outcome.error);
    } else if (this.#questions.size > 0 && !this.#questionsScheduled) {
      this.#questionsScheduled = true;
      // Delayed, so that questions asked in the same turn of the event loop go out in one answer.
      setImmediate(() => this.#sendQuestions());
    }
  }

  #sendQuestions(): void {
    this.#questionsScheduled = false;
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
      // Each answer is used once. If the child asks again, the client must be asked again.
      this.#given.delete(name);
      return Promise.resolve(given);
    }
    return new Promise((resolve, reject) => {
      const remove = (): void => {
        this.#questions.delete(name);
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        remove();
        reject(signal.reason as Error);
      };
      this.#questions.set(name, {
        method,
        params: withoutId(method, params),
        settle(answer) {
          remove();
          resolve(answer);
        },
        refuse(reason) {
          remove();
          reject(reason as Error);
        },
      });
      signal.addEventListener("abort", onAbort);
      this.#answerIfReady();
    });
  }

  /** Valid for this call only, because the next call may come from another client. */
  #roots(): Roots {
    let known: KnownRoots | undefined;
    let asking: Promise<KnownRoots> | undefined;
    const ask = async (): Promise<KnownRoots> => {
      const asked = { method: "roots/list", params: undefined, signal: this.signal };
      known = await this.#ask(asked).then(rootsOf, (error: Error) => noRoots(error.message));
      return known;
    };
    return {
      expensiveToAsk: true,
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

  /** Uses the child's name for the question if it is free, else a new one. */
  #nameOf({ method, name }: { method: string; name?: string | undefined }): string {
    this.#asked += 1;
    if (name !== undefined && !this.#questions.has(name)) return name;
    return `${method.slice(0, method.indexOf("/"))}-${this.#asked}`;
  }

  /**
   * Forwards only log messages and progress, because a stream of this era carries only what belongs to its
   * request.
   */
  #notify(method: string, params: Raw | undefined): void {
    const reply = this.#reply;
    if (!reply || !params) return;
    if (method === "notifications/message") {
      if (logged(params, reply.logLevel)) reply.notify(method, params);
    } else if (method === "notifications/progress" && reply.progressToken) {
      // The child uses the progress token of the first attempt; each retry has its own.
      const own = reply === this.#first ? params : restoreProgress(params, reply.progressToken);
      reply.notify(method, own);
    }
  }
}

/**
 * Whether a log message is at or above the level that the request asks for; without one none is sent. A
 * message without a known level is sent.
 */
function logged(params: Raw, wanted: string | undefined): boolean {
  if (!isSeverity(wanted)) return false;
  const raw = member(params, "level");
  const level = scalarOf(raw);
  return !isSeverity(level) || compareSeverity(level, wanted) >= 0;
}
