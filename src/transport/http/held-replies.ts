/**
 * Turns replies into event streams if their answers take long. All replies share one timer, because a timer
 * each would cost as much as the reply.
 */
import type { Clock } from "../../kernel/clock.ts";
import { PassingSet } from "../../kernel/passing.ts";

/** A reply waits one to two rounds. Clients time out if no response headers arrive. */
const ROUND_MS = 500;

export interface HeldReply {
  startStream(): void;
}

export class HeldReplies {
  readonly #clock: Clock;
  /** Added in this round. */
  #young = new PassingSet<HeldReply>();
  /** Added in the previous round; they become streams at the end of this one. */
  #old = new PassingSet<HeldReply>();
  #ticking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(held: HeldReply): void {
    this.#young.add(held);
    if (!this.#ticking) this.#startRound();
  }

  delete(held: HeldReply): void {
    if (!this.#young.delete(held)) this.#old.delete(held);
  }

  #startRound(): void {
    this.#ticking = true;
    this.#clock.after(ROUND_MS, () => this.#tick());
  }

  #tick(): void {
    const due = this.#old;
    this.#old = this.#young;
    this.#young = new PassingSet();
    for (const held of due) held.startStream();
    this.#ticking = false;
    if (this.#old.size > 0 || this.#young.size > 0) this.#startRound();
  }
}
