/** Reads JSON-RPC batches from a stream of lines and answers each batch with one line. */
import { readBatch } from "../rpc/batch.ts";
import { cancelledId } from "../rpc/cancelled.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { Batch } from "../session/batch.ts";
import type { Session } from "../session/session.ts";

export class LineBatches {
  readonly #open = new Set<Batch>();
  readonly #send: (answers: readonly Message[]) => void;

  constructor(send: (answers: readonly Message[]) => void) {
    this.#send = send;
  }

  /** Returns false if the line is not a batch. */
  read(line: Buffer, malformed: Malformed, session: Session): boolean {
    const messages = readBatch(line, malformed);
    if (!messages) return false;
    if ("kind" in messages) {
      session.receive(messages);
      return true;
    }
    const batch: Batch = new Batch(messages, (answers) => {
      this.#open.delete(batch);
      if (answers.length > 0) this.#send(answers);
    });
    this.#open.add(batch);
    batch.deliver((message) => {
      session.receive(message, batch);
      this.dropCancelled(message);
    });
    return true;
  }

  /** If the message cancels a request of an open batch, the batch stops waiting for its answer. */
  dropCancelled(message: Message | Malformed): void {
    if (this.#open.size === 0) return;
    const id = cancelledId(message);
    if (id !== undefined) for (const batch of this.#open) batch.cancelled(id);
  }
}
