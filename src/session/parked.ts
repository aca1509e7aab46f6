/** Work that waits for an answer from outside. Bounded in number and in time; each piece leaves exactly once: taken, or ended. */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface ParkedWait {
  /** Nobody came for it. Called at most once, and never after it was taken. */
  giveUp(reason: string): void;
}

export interface ParkLimits {
  readonly most: number;
  readonly lifetimeMs: number;
}

interface Place<W> {
  readonly work: W;
  readonly timer: Timer;
}

export class Parked<W extends ParkedWait> {
  readonly #clock: Clock;
  readonly #limits: ParkLimits;
  /** Oldest first. */
  readonly #places = new Map<string, Place<W>>();

  constructor(clock: Clock, limits: ParkLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Where all places are taken, the one that waited longest makes room: most who wait that long never come back. */
  park(id: string, work: W): void {
    const timer = this.#clock.after(this.#limits.lifetimeMs, () =>
      this.#end(id, `no answer within ${this.#limits.lifetimeMs / 1000} s`),
    );
    this.#places.set(id, { work, timer });
    const [oldest] = this.#places.keys();
    if (this.#places.size > this.#limits.most && oldest !== undefined)
      this.#end(oldest, "too many calls are waiting for an answer");
  }

  /** Undefined for what was taken already, has ended, or never was. */
  take(id: string): W | undefined {
    const place = this.#places.get(id);
    this.#places.delete(id);
    place?.timer.cancel();
    return place?.work;
  }

  /** Ends all that waits. */
  clear(reason: string): void {
    for (const id of this.#places.keys()) this.#end(id, reason);
  }

  #end(id: string, reason: string): void {
    this.take(id)?.giveUp(reason);
  }
}
