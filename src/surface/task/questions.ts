/** What a task wants to know from its client. The client is not waiting for anything: a question stays open until it comes by. */
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
  /** It was put to a client, which has not answered yet. */
  put: boolean;
  settle(answer: Raw): void;
  refuse(reason: unknown): void;
}

/** A request of the client on whose stream it can be asked. */
export interface QuestionListener {
  readonly uplink: Uplink;
  readonly signal: Signal;
}

export class TaskQuestions {
  /** By a name that is never used twice for one task. */
  readonly #open = new Map<string, Question>();
  readonly #listeners = new Set<QuestionListener>();
  readonly #names = new Set<string>();
  /** One was asked or settled. */
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#open.size;
  }

  /** All that are open, for a client that answers them by name. */
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

  /** Answers by name. What was never asked, or is answered already, means nothing. */
  answer(responses: Raw): void {
    for (const [name, answer] of entries(responses)) this.#open.get(name)?.settle(answer);
  }

  ask(method: string, params: Raw | undefined, signal: Signal, more?: Asking): Promise<Raw> {
    const name = this.#nameFor(more?.name);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => question.refuse(signal.reason);
      const leave = (): void => {
        this.#open.delete(name);
        signal.removeEventListener("abort", onAbort);
        this.#onChange();
      };
      const question: Question = {
        method,
        params,
        signal,
        more,
        put: false,
        settle(answer) {
          leave();
          resolve(answer);
        },
        refuse(reason) {
          leave();
          reject(reason as Error);
        },
      };
      this.#open.set(name, question);
      signal.addEventListener("abort", onAbort);
      this.#onChange();
      this.#putAll();
    });
  }

  /** Open questions are put to the client as requests of ours, on the stream of this one, until it is over. */
  listen(listener: QuestionListener): () => void {
    this.#listeners.add(listener);
    this.#putAll();
    return () => void this.#listeners.delete(listener);
  }

  refuseAll(reason: string): void {
    for (const question of this.#open.values()) question.refuse(RpcError.of(INTERNAL_ERROR, reason));
  }

  #putAll(): void {
    const [listener] = this.#listeners;
    if (!listener) return;
    for (const [name, question] of this.#open) if (!question.put) this.#put(name, question, listener);
  }

  #put(name: string, question: Question, { uplink, signal: listening }: QuestionListener): void {
    const { method, params, signal, more } = question;
    question.put = true;
    uplink.request(method, params, signal, more).then(
      (answer) => {
        if (this.#open.get(name) === question) question.settle(answer);
      },
      (error: unknown) => {
        if (this.#open.get(name) !== question) return;
        question.put = false;
        // The client went away in the middle: the next one that comes by is asked.
        if (listening.aborted) this.#putAll();
        else question.refuse(error);
      },
    );
  }

  /** The child's own name for it where it is free. */
  #nameFor(wanted: string | undefined): string {
    const name =
      wanted !== undefined && !this.#names.has(wanted) ? wanted : `question-${this.#names.size + 1}`;
    this.#names.add(name);
    return name;
  }
}
