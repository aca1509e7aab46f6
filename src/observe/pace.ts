/** How many statements may be sent: so many per second, and at most those of one second at once. Pure. */
export class Pace {
  readonly #perMs: number;
  readonly #most: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000;
    this.#most = perSecond;
    this.#left = perSecond;
  }

  /** Notes statements that were sent. They may be more than were left. */
  spend(count: number, now: number): void {
    this.#refill(now);
    this.#left -= count;
  }

  /** How long to wait before the next statement. */
  waitMs(now: number): number {
    this.#refill(now);
    return Math.max(0, Math.ceil((1 - this.#left) / this.#perMs));
  }

  #refill(now: number): void {
    this.#left = Math.min(this.#most, this.#left + (now - this.#at) * this.#perMs);
    this.#at = now;
  }
}
