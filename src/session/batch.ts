/** One batch of a client. Collects the answers and passes them on together once all are there. */
import { type IdKey, idKey } from "../rpc/id.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { INVALID_REQUEST, RpcError } from "../rpc/rpc-error.ts";

export class Batch {
  readonly #messages: readonly (Message | Malformed)[];
  readonly #done: (answers: readonly Message[]) => void;
  readonly #answers: Message[] = [];
  /** Ids of requests without an answer. A list, because a client may use an id twice. */
  #open: IdKey[] = [];

  /** `done` is called once. Its list is empty if nothing in the batch needs an answer. */
  constructor(messages: readonly (Message | Malformed)[], done: (answers: readonly Message[]) => void) {
    this.#messages = messages;
    this.#done = done;
    for (const message of messages) {
      const refusal = refusalOf(message);
      if (refusal) this.#answers.push(refusal);
      else if (message.kind === "request") this.#open.push(idKey(message.id));
    }
  }

  /** At least one message gets an answer. */
  get expectsAnswers(): boolean {
    return this.#open.length + this.#answers.length > 0;
  }

  /** Passes the messages on in their order, except those that the batch refuses itself. */
  deliver(receive: (message: Message | Malformed) => void): void {
    const open = this.#open.length > 0;
    for (const message of this.#messages) if (!refusalOf(message)) receive(message);
    if (!open) this.#done(this.#answers);
  }

  /** Keeps an answer to one of its requests. Returns false if the message is not an answer. */
  take(message: Message): boolean {
    if (message.kind !== "result" && message.kind !== "error") return false;
    this.#answers.push(message);
    if (message.id) this.#close(idKey(message.id));
    return true;
  }

  /** Stops waiting for the answer to this request. */
  cancelled(id: IdKey): void {
    this.#close(id);
  }

  #close(id: IdKey): void {
    const at = this.#open.indexOf(id);
    if (at < 0) return;
    this.#open = this.#open.toSpliced(at, 1);
    if (this.#open.length === 0) this.#done(this.#answers);
  }
}

/** Returns the error for a message that is not allowed in a batch, else undefined. */
function refusalOf(message: Message | Malformed): Message | undefined {
  if (message.kind === "request" && message.method === "initialize") {
    const { raw } = RpcError.of(INVALID_REQUEST, "initialize may not be part of a batch");
    return { kind: "error", id: message.id, error: raw };
  }
  if (message.kind !== "malformed" || message.meant === "answer") return undefined;
  return { kind: "error", id: message.id, error: RpcError.of(message.code, message.reason).raw };
}
