/**
 * Places of one limit over all replicas. A row says how many each replica has; those of a dead one go with
 * its row. What runs here needs a place that is ours. Free ones are kept for a moment, so that calls one
 * after the other need no statements, and go back at once where places are short.
 */
import type { Timer } from "../../kernel/clock.ts";
import type { Places, PlacesTerms } from "../../kernel/counts.ts";
import { notKnown, type Reach } from "./reach.ts";

/** A free place goes back after this time. */
const IDLE_MS = 50;
/** Where places are short, one is passed on here for so long; then others have their turn. */
const TURN_MS = 100;
/** Somebody who waits asks again after this time. */
const POLL_MS = 25;
/**
 * So often at most. Only then is it certain that all places are in use: elsewhere one may just be free, and
 * not given back yet.
 */
const TRIES = 6;
/** A block is at most this part of the limit. */
const BLOCK_SHARE = 10;

export interface SharedPlacesParts {
  /** Of the row. */
  readonly id: string;
  /** Of this replica. */
  readonly replica: string;
  readonly reach: Reach;
  /** It has no users, nothing runs, and it has no places. */
  readonly onUnused: () => void;
}

export class SharedPlaces implements Places {
  readonly #parts: SharedPlacesParts;
  #terms: PlacesTerms = { most: () => undefined };
  #users = 0;
  #running = 0;
  /** Places that are ours. */
  #ours = 0;
  /** Those of the other replicas, as far as is known. */
  #others = 0;
  /** Those that wait for an answer, in the order in which they came. */
  #waiters: { readonly more: number; readonly resolve: () => void }[] = [];
  #asking: Promise<void> | undefined;
  #sending: Promise<void> = Promise.resolve();
  /** Statements without an answer. */
  #unanswered = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #othersTurnUntil = Number.NEGATIVE_INFINITY;
  /** The row may say more than is ours, or less than is running. */
  #unsure = false;
  #idleTimer: Timer | undefined;
  #polls = false;
  readonly #watchers = new Map<() => void, () => number>();

  constructor(parts: SharedPlacesParts) {
    this.#parts = parts;
  }

  /** From now on these terms hold for all users. */
  use(terms: PlacesTerms): void {
    this.#terms = terms;
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    this.#settle();
  }

  ready(more = 1): Promise<void> | undefined {
    const { reach } = this.#parts;
    const most = this.#most;
    if (most === undefined) return undefined;
    if (reach.away) return this.#terms.required ? Promise.reject(notKnown()) : undefined;
    const need = this.#running + more;
    if (need <= this.#certain || need > most) return undefined;
    const answered = new Promise<void>((resolve) => this.#waiters.push({ more, resolve }));
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      for (const { resolve } of this.#waiters.splice(0)) resolve();
      this.#settle();
    });
    return answered;
  }

  full(more = 1): boolean {
    const { reach } = this.#parts;
    const most = this.#most;
    if (most === undefined) return false;
    const need = this.#running + more;
    if (!reach.away) return need > Math.min(most, this.#certain);
    return this.#terms.required === true || need > Math.floor(most / reach.replicas);
  }

  enter(): void {
    this.#running += 1;
  }

  leave(): void {
    this.#running -= 1;
    const most = this.#most;
    if (most === undefined || this.#parts.reach.away) return;
    const { clock } = this.#parts.reach;
    const isShort = this.#others + this.#ours > most / 2;
    // Who ended a session to make room for another enters in the same turn.
    if (isShort && (this.#watchers.size === 0 || clock.now() - this.#askedAt > TURN_MS))
      queueMicrotask(() => this.#giveBack());
    else this.#idleTimer ??= clock.after(IDLE_MS, () => this.#giveBack());
  }

  watch(look: () => void, waiting: () => number): () => void {
    this.#watchers.set(look, waiting);
    this.#poll();
    return () => {
      this.#watchers.delete(look);
      this.#settle();
    };
  }

  /** The others called this replica dead, and its places are gone. */
  lost(): void {
    this.#ours = 0;
    this.#unsure = true;
    this.confirm();
  }

  /** Tells the database what is running here, if it may not know. */
  confirm(): void {
    if (this.#most === undefined || this.#parts.reach.away) return;
    if (this.#unsure || this.#running > this.#ours) void this.#hold(0);
    // What ended while the database was away has not given its place back.
    else this.#settle();
  }

  /** Those that are ours whatever the others did meanwhile. What runs is told them afterwards. */
  get #certain(): number {
    return this.#parts.reach.uncertain ? Math.min(this.#ours, this.#running) : this.#ours;
  }

  get #most(): number | undefined {
    return this.#terms.most();
  }

  /** For all that wait. */
  async #ask(): Promise<void> {
    // Calls of the same moment come first.
    await Promise.resolve();
    const { reach } = this.#parts;
    await reach.certain();
    for (let turn = 0; turn < TRIES; turn++) {
      if (turn > 0) await new Promise<void>((resolve) => void reach.clock.after(POLL_MS, resolve));
      if (reach.clock.now() >= this.#othersTurnUntil) await this.#hold(this.#wanted);
      this.#admit();
      if (reach.away || this.#waiters.length === 0) return;
    }
  }

  get #wanted(): number {
    return this.#waiters.reduce((sum, { more }) => sum + more, 0);
  }

  /** Those for whom there are places now need not wait for the others. They enter in this turn. */
  #admit(): void {
    let free = this.#ours - this.#running;
    for (;;) {
      const [first] = this.#waiters;
      if (!first || first.more > free) return;
      free -= first.more;
      this.#waiters.shift();
      first.resolve();
    }
  }

  /** Looks for places for those in queues, as long as somebody waits. */
  #poll(): void {
    const { reach } = this.#parts;
    if (this.#polls) return;
    this.#polls = true;
    reach.clock.after(POLL_MS, () => {
      this.#polls = false;
      if (this.#watchers.size === 0) return;
      const waiting = [...this.#watchers.values()].reduce((sum, count) => sum + count(), 0);
      const asked = reach.clock.now() >= this.#othersTurnUntil ? this.#hold(waiting) : Promise.resolve();
      void asked.finally(() => {
        for (const look of this.#watchers.keys()) look();
        if (this.#watchers.size > 0) this.#poll();
      });
    });
  }

  /** Free places are no longer ours from now on. */
  #giveBack(): void {
    this.#idleTimer?.cancel();
    this.#idleTimer = undefined;
    if (this.#ours <= this.#running || this.#asking) return;
    this.#ours = this.#running;
    void this.#hold(0);
  }

  /** Sends what is ours, and asks for as many more as are needed. One statement at a time. */
  #hold(wanted: number): Promise<void> {
    this.#unanswered += 1;
    this.#sending = this.#sending
      .then(() => this.#send(wanted))
      .finally(() => {
        this.#unanswered -= 1;
        this.#settle();
      });
    return this.#sending;
  }

  async #send(wanted: number): Promise<void> {
    const { reach, id, replica } = this.#parts;
    const most = this.#most ?? 0;
    // A replica that counted for itself while the database was away may have more than its places.
    this.#ours = Math.max(this.#ours, this.#running);
    const have = this.#ours;
    const missing = Math.max(0, this.#running + wanted - have);
    const isFar = this.#others + have + missing <= most / 2;
    const ahead = missing > 0 && isFar ? Math.min(Math.floor(most / BLOCK_SHARE), this.#running) : 0;
    this.#unsure = true;
    const held = await reach.ask((rows) =>
      rows.holdPlaces(id, { replica, most, have, want: missing + ahead }),
    );
    if (!held) return;
    const now = reach.clock.now();
    this.#unsure = false;
    this.#askedAt = now;
    this.#ours += held.granted;
    this.#others = held.others;
    if (held.wanted && missing === 0) this.#othersTurnUntil = now + 2 * POLL_MS;
  }

  /** Places that nobody used go back. */
  #settle(): void {
    if (this.#ours > this.#running) {
      const { clock } = this.#parts.reach;
      this.#idleTimer ??= clock.after(IDLE_MS, () => this.#giveBack());
    } else if (this.#users + this.#running + this.#unanswered === 0 && !this.#unsure) this.#parts.onUnused();
  }
}
