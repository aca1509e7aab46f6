/**
 * Runs functions one after the other, the next one for the owner who has waited longest for a turn: whoever
 * adds many delays only their own. Bounds how many an owner, and all together, may have waiting or running.
 */
export interface FairLimits {
  readonly perOwner: number;
  readonly total: number;
}

export class FairSequencer {
  readonly #limits: FairLimits;
  /** Who had a turn goes to the end. The functions of an owner keep their order. */
  readonly #owners = new Map<string, (() => Promise<void>)[]>();
  readonly #counts = new Map<string, number>();
  #size = 0;
  #running = false;

  constructor(limits: FairLimits) {
    this.#limits = limits;
  }

  /** Resolves or rejects as `work` does. Undefined, and `work` is not run, if too many wait. */
  run<T>(owner: string, work: () => Promise<T>): Promise<T> | undefined {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= this.#limits.perOwner || this.#size >= this.#limits.total) return undefined;
    this.#count(owner, count + 1);
    const done = new Promise<T>((resolve, reject) => {
      const queue = this.#owners.get(owner) ?? [];
      queue.push(() => work().then(resolve, reject));
      this.#owners.set(owner, queue);
    });
    if (!this.#running) void this.#runAll();
    return done;
  }

  async #runAll(): Promise<void> {
    this.#running = true;
    for (;;) {
      const [first] = this.#owners;
      if (!first) break;
      const [owner, queue] = first;
      const next = queue.shift();
      this.#owners.delete(owner);
      if (queue.length > 0) this.#owners.set(owner, queue);
      await next?.();
      this.#count(owner, (this.#counts.get(owner) ?? 1) - 1);
    }
    this.#running = false;
  }

  #count(owner: string, count: number): void {
    this.#size += count - (this.#counts.get(owner) ?? 0);
    if (count === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, count);
  }
}
