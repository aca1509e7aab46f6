/**
 * The open questions of a task to its client. The client does not wait for the task, so a question stays open
 * until the client asks for the task.
 */
import type { Asking, Uplink } from "../../kernel/call.ts";
import { EMPTY_OBJECT, type Raw, toRaw } from "../../kernel/raw.ts";
import type { Signal } from "../../kernel/signal.ts";
import { INTERNAL_ERROR, RpcError } from "../../rpc/rpc-error.ts";
import { entries, joinObject } from "../../rpc/slice.ts";

interface Question {
  readonly method: string;
  readonly params: Raw | undefined;
  readonly signal: Signal;
  readonly more: Asking | undefined;
  /** The question was sent to a listener that has not answered yet. */
  sent: boolean;
  settle(answer: Raw): void;
  refuse(reason: unknown): void;
}

/** A request of the client on whose stream questions can be sent. */
export interface QuestionListener {
  readonly uplink: Uplink;
  readonly signal: Signal;
}

export class TaskQuestions {
  /** Keyed by name. A name is never used twice in one task. */
  readonly #open = new Map<string, Question>();
  readonly #listeners = new Set<QuestionListener>();
  readonly #names = new Set<string>();
  /** Called when a question was added or settled. */
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns all open questions, for a client that answers them by name. */
  requests(): Raw {
    return joinObject(
      [...this.#open].map(([name, { method, params = EMPTY_OBJECT }]) => [
        name,
        joinObject([
          ["method", toRaw(method)],
          ["params", params],
        ]),
      ]),
    );
  }

  /** Settles questions by name. Ignores names that are unknown or already answered. */
  answer(responses: Raw): void {
    for (const [name, answer] of entries(responses)) this.#open.get(name)?.settle(answer);
  }

  ask(method: string, params: Raw | undefined, signal: Signal, more?: Asking): Promise<Raw> {
    const name = this.#nameFor(more?.name);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => question.refuse(signal.reason);
      const remove = (): void => {
        this.#open.delete(name);
        signal.removeEventListener("abort", onAbort);
        this.#onChange();
      };
      const question: Question = {
        method,
        params,
        signal,
        more,
        sent: false,
        settle(answer) {
          remove();
          resolve(answer);
        },
        refuse(reason) {
          remove();
          reject(reason as Error);
        },
      };
      this.#open.set(name, question);
      signal.addEventListener("abort", onAbort);
      this.#onChange();
      this.#sendAll();
    });
  }

  /**
   * Sends open questions to the client on the stream of this request. Returns the function that ends this.
   */
  listen(listener: QuestionListener): () => void {
    this.#listeners.add(listener);
    this.#sendAll();
    return () => void this.#listeners.delete(listener);
  }

  refuseAll(reason: string): void {
    for (const question of this.#open.values()) question.refuse(RpcError.of(INTERNAL_ERROR, reason));
  }

  #sendAll(): void {
    const [listener] = this.#listeners;
    if (!listener) return;
    for (const [name, question] of this.#open) if (!question.sent) this.#send(name, question, listener);
  }

  #send(name: string, question: Question, { uplink, signal: listening }: QuestionListener): void {
    const { method, params, signal, more } = question;
    question.sent = true;
    uplink.request(method, params, signal, more).then(
      (answer) => {
        if (this.#open.get(name) === question) question.settle(answer);
      },
      (error: unknown) => {
        if (this.#open.get(name) !== question) return;
        question.sent = false;
        // The client disconnected before it answered, so the question goes to the next listener.
        if (listening.aborted) this.#sendAll();
        else question.refuse(error);
      },
    );
  }

  /** Uses the child's name for the question if it is free, else a new one. */
  #nameFor(wanted: string | undefined): string {
    const name =
      wanted !== undefined && !this.#names.has(wanted) ? wanted : `question-${this.#names.size + 1}`;
    this.#names.add(name);
    return name;
  }
}
