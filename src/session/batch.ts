/** One batch of a client, and the answers to it, which go out together once all are there. */
import { type IdKey, idKey } from "../rpc/id.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { INVALID_REQUEST, RpcError } from "../rpc/rpc-error.ts";

export class Batch {
  readonly #messages: readonly (Message | Malformed)[];
  readonly #done: (answers: readonly Message[]) => void;
  readonly #answers: Message[] = [];
  /** Of requests that are not answered yet. */
  #open: IdKey[] = [];

  /** `done` is called once, with no answers where nothing asks for one. */
  constructor(messages: readonly (Message | Malformed)[], done: (answers: readonly Message[]) => void) {
    this.#messages = messages;
    this.#done = done;
    for (const message of messages) {
      const refusal = refusalOf(message);
      if (refusal) this.#answers.push(refusal);
      else if (message.kind === "request") this.#open.push(idKey(message.id));
    }
  }

  /** Something in it is answered. */
  get asks(): boolean {
    return this.#open.length + this.#answers.length > 0;
  }

  /** Hands over what is in it, in its order. */
  deliver(receive: (message: Message | Malformed) => void): void {
    const open = this.#open.length > 0;
    for (const message of this.#messages) if (!refusalOf(message)) receive(message);
    if (!open) this.#done(this.#answers);
  }

  /** Keeps an answer to one of its requests. False: it is none. */
  take(message: Message): boolean {
    if (message.kind !== "result" && message.kind !== "error") return false;
    this.#answers.push(message);
    if (message.id) this.#close(idKey(message.id));
    return true;
  }

  /** No answer will come to this request. */
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

/** The answer to what cannot be in a batch; undefined for what can. */
function refusalOf(message: Message | Malformed): Message | undefined {
  if (message.kind === "request" && message.method === "initialize") {
    const { raw } = RpcError.of(INVALID_REQUEST, "initialize may not be part of a batch");
    return { kind: "error", id: message.id, error: raw };
  }
  if (message.kind !== "malformed" || message.meant === "answer") return undefined;
  return { kind: "error", id: message.id, error: RpcError.of(message.code, message.reason).raw };
}
