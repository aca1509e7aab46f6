/**
 * Holds work that waits for an answer from outside. Limited in number and time. Each item leaves exactly
 * once: taken, or given up.
 */
import type { Clock, Timer } from "../kernel/clock.ts";

export interface ParkedWait {
  /**
   * Called if the item was not taken in time or had to make room. Called at most once, and never after it was
   * taken.
   */
  giveUp(reason: string): void;
}

export interface ParkLimits {
  readonly most: number;
  readonly lifetimeMs: number;
}

interface Entry<W> {
  readonly work: W;
  readonly owner: string;
  readonly timer: Timer;
}

export class Parked<W extends ParkedWait> {
  readonly #clock: Clock;
  readonly #limits: ParkLimits;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry<W>>();

  constructor(clock: Clock, limits: ParkLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Beyond the limit, the oldest item of the owner with most items is given up, so that nobody crowds out
   * others.
   */
  park(id: string, work: W, owner = ""): void {
    const timer = this.#clock.after(this.#limits.lifetimeMs, () =>
      this.#giveUp(id, `no answer within ${this.#limits.lifetimeMs / 1000} s`),
    );
    this.#entries.set(id, { work, timer, owner });
    if (this.#entries.size > this.#limits.most)
      this.#giveUp(this.#oldestOfMost(), "too many calls are waiting for an answer");
  }

  #oldestOfMost(): string {
    const owned = new Map<string, string[]>();
    for (const [id, { owner }] of this.#entries) owned.set(owner, [...(owned.get(owner) ?? []), id]);
    const [oldest = ""] = [...owned.values()].reduce((a, b) => (b.length > a.length ? b : a));
    return oldest;
  }

  /** Returns undefined if the item was taken already, was given up or never existed. */
  take(id: string): W | undefined {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    entry?.timer.cancel();
    return entry?.work;
  }

  /** Gives up all items, or only those that match. */
  clear(reason: string, matches: (work: W) => boolean = () => true): void {
    for (const [id, { work }] of this.#entries) if (matches(work)) this.#giveUp(id, reason);
  }

  #giveUp(id: string, reason: string): void {
    this.take(id)?.giveUp(reason);
  }
}
