/** Batches on a stream of lines: each is answered by one line. */
import { readBatch } from "../rpc/batch.ts";
import { cancelledId } from "../rpc/cancelled.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { Batch } from "../session/batch.ts";
import type { Session } from "../session/session.ts";

export class LineBatches {
  readonly #open = new Set<Batch>();
  readonly #answer: (answers: readonly Message[]) => void;

  constructor(answer: (answers: readonly Message[]) => void) {
    this.#answer = answer;
  }

  /** False: it is no batch. */
  read(line: Buffer, malformed: Malformed, session: Session): boolean {
    const messages = readBatch(line, malformed);
    if (!messages) return false;
    if ("kind" in messages) {
      session.receive(messages);
      return true;
    }
    const batch: Batch = new Batch(messages, (answers) => {
      this.#open.delete(batch);
      if (answers.length > 0) this.#answer(answers);
    });
    this.#open.add(batch);
    batch.deliver((message) => {
      session.receive(message, batch);
      this.heard(message);
    });
    return true;
  }

  /** A request that the client cancels gets no answer. */
  heard(message: Message | Malformed): void {
    if (this.#open.size === 0) return;
    const id = cancelledId(message);
    if (id !== undefined) for (const batch of this.#open) batch.cancelled(id);
  }
}
