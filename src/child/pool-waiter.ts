/**
 * One caller that waits for a slot of the pool, with its timeout and its cancel signal. Its place in the
 * queue is up to the pool.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { PoolSlot } from "./pool-slot.ts";

export class Waiter {
  /** The result for the caller. */
  readonly slot: Promise<PoolSlot>;
  readonly since: number;
  readonly until: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #resolve: (slot: PoolSlot) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #timer: Timer | undefined;
  #onAbort: (() => void) | undefined;

  constructor(clock: Clock, waitMs: number, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#signal = signal;
    this.since = clock.now();
    this.until = this.since + waitMs;
    this.slot = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Starts the timeout and listens to the signal. A caller that is served at once needs neither. */
  watch({ onTimeout, onAbort }: { onTimeout: () => void; onAbort: (reason: unknown) => void }): void {
    this.#onAbort = () => onAbort(this.#signal?.reason);
    this.#signal?.addEventListener("abort", this.#onAbort);
    const waitMs = this.until - this.since;
    if (Number.isFinite(waitMs)) this.#timer = this.#clock.after(waitMs, onTimeout);
  }

  give(slot: PoolSlot): void {
    this.#stop();
    this.#resolve(slot);
  }

  refuse(reason: unknown): void {
    this.#stop();
    this.#reject(reason);
  }

  #stop(): void {
    this.#timer?.cancel();
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
