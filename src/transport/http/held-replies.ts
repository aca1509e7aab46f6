/** Replies that are held back, and let go as streams when their answers take long. One timer for all of them: one for each would cost as much as the reply. */
import type { Clock } from "../../kernel/clock.ts";

/** Each waits for one to two of these. Clients give up on headers that do not come. */
const ROUND_MS = 500;

export interface HeldReply {
  startStream(): void;
}

export class HeldReplies {
  readonly #clock: Clock;
  #young = new Set<HeldReply>();
  #old = new Set<HeldReply>();
  #ticking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(held: HeldReply): void {
    this.#young.add(held);
    if (!this.#ticking) this.#wait();
  }

  delete(held: HeldReply): void {
    if (!this.#young.delete(held)) this.#old.delete(held);
  }

  #wait(): void {
    this.#ticking = true;
    this.#clock.after(ROUND_MS, () => this.#tick());
  }

  #tick(): void {
    const due = this.#old;
    this.#old = this.#young;
    this.#young = new Set();
    for (const held of due) held.startStream();
    this.#ticking = false;
    if (this.#old.size > 0 || this.#young.size > 0) this.#wait();
  }
}
