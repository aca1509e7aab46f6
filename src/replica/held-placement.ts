/** The right of this replica to run a server, and the links that use it. Knows no database. */

import type { PlacedLink, PlaceHere } from "../child/placed/placement.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import { END_MS, FRESH_MS, GUARD_MS, LEASE_MS } from "./placement-times.ts";

interface HeldParts {
  readonly clock: Clock;
  /** It could not be renewed. */
  readonly onOver: () => void;
}

export class Held {
  readonly place: PlaceHere;
  readonly #parts: HeldParts;
  readonly #links = new Set<PlacedLink>();
  /** When the last successful statement was sent. The database counts from later. */
  #sentAt: number;
  #timer: Timer | undefined;
  #unused = false;
  #onEmpty: (() => void) | undefined;
  moving = false;
  over = false;

  constructor(sentAt: number, parts: HeldParts) {
    this.#parts = parts;
    this.#sentAt = sentAt;
    const isValid = (): boolean => this.valid;
    const left = (): number => LEASE_MS - FRESH_MS - this.#age;
    this.place = {
      at: "here",
      guardMs: GUARD_MS,
      get valid() {
        return isValid();
      },
      get leftMs() {
        return left();
      },
      join: (link) => this.#join(link),
    };
    this.renewed(sentAt);
  }

  get #age(): number {
    return this.#parts.clock.now() - this.#sentAt;
  }

  get valid(): boolean {
    return !this.over && this.#age < END_MS;
  }

  renewed(sentAt: number): void {
    if (this.over) return;
    this.#sentAt = Math.max(this.#sentAt, sentAt);
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(END_MS - this.#age, () => this.#parts.onOver());
    if (this.#age < FRESH_MS) for (const link of this.#links) link.renewed?.();
  }

  /** No link has used it since this was asked last. */
  isUnused(): boolean {
    const unused = this.#unused && this.#links.size === 0 && !this.moving;
    this.#unused = this.#links.size === 0;
    return unused;
  }

  /** Takes no new requests. Resolves when those under way have ended and nothing of it runs here. */
  async moved(): Promise<void> {
    this.moving = true;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const link of this.#links) link.moved();
    if (this.#links.size > 0) await empty;
  }

  /** Resolves when nothing of it runs here. */
  async lost(reason: string): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.lost(reason)));
  }

  end(): void {
    this.over = true;
    this.#timer?.cancel();
  }

  #join(link: PlacedLink): () => void {
    this.#links.add(link);
    this.#unused = false;
    return () => {
      this.#links.delete(link);
      if (this.#links.size === 0) this.#onEmpty?.();
    };
  }
}
