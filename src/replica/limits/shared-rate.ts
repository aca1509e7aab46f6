/**
 * Calls per time over all replicas. Tokens come from the database in blocks, which are used up within a short
 * time. Exact from above: a call passes only with a token, and no token is used twice or much later.
 */
import type { Timer } from "../../kernel/clock.ts";
import type { Rate, RateTerms } from "../../kernel/counts.ts";
import { MAX_KEYS } from "../../kernel/local-rate.ts";
import { Lru } from "../../kernel/lru.ts";
import { RateShare } from "./rate-share.ts";
import { notKnown, RETRY_MS, type Reach } from "./reach.ts";

/** Tokens of a block are used within this time. */
const HOLD_MS = 100;
/** A count that was used up is looked at again after this time at the latest: tokens may have come back. */
const USED_UP_MS = 100;
/** A block is at most this part of the burst. */
const BLOCK_SHARE = 10;

/** Tokens that came with one statement. */
interface Block {
  left: number;
  readonly until: number;
  /** It has just come: those that waited for it use it now, however long the database took. */
  fresh: boolean;
  /** For giving tokens back. */
  readonly earned: number;
}

/** A call that has passed. */
interface Taken {
  /** Undefined if it passed without the database. */
  readonly block: Block | undefined;
  readonly ofShareMs: number;
}

interface Key {
  /** In the database. */
  readonly id: string;
  block: Block | undefined;
  /** Until then there is no token anywhere. */
  usedUpUntil: number;
  /** When there may be one. */
  nextAt: number;
  asking: Promise<void> | undefined;
  /** Calls that wait for a statement that is not sent yet. */
  waiting: number;
  sent: boolean;
  /** Since the last statement. */
  used: number;
  askedAt: number;
  timer: Timer | undefined;
  readonly share: RateShare;
  /** Calls that passed with the share, which the database does not know. */
  owed: number;
}

export interface SharedRateParts {
  readonly idOf: (key: string) => string;
  readonly onOwing: () => void;
}

export class SharedRate implements Rate {
  readonly #terms: RateTerms;
  readonly #holdMs: number;
  readonly #reach: Reach;
  readonly #idOf: (key: string) => string;
  readonly #keys = new Lru<string, Key>(MAX_KEYS, (key) => this.#dropped(key));
  readonly #onOwing: () => void;
  readonly #owing = new Set<Key>();
  #settling = false;

  /** `onOwing`: the database must be told something; call `settle` when it is back. */
  constructor(terms: RateTerms, reach: Reach, { idOf, onOwing }: SharedRateParts) {
    this.#terms = terms;
    this.#onOwing = onOwing;
    // So that a block is at most its part of the burst of a very short time.
    this.#holdMs = Math.min(HOLD_MS, (terms.burst * terms.intervalMs) / BLOCK_SHARE);
    this.#reach = reach;
    this.#idOf = idOf;
  }

  ready(name: string): Promise<void> | undefined {
    if (this.#reach.away) return this.#terms.required ? Promise.reject(notKnown()) : undefined;
    const key = this.#keyOf(name);
    const now = this.#reach.clock.now();
    if (this.#hasToken(key, now) || now < key.usedUpUntil) return undefined;
    // Who comes after the statement was sent asks again after its answer.
    if (!key.sent) key.waiting += 1;
    key.asking ??= this.#ask(key).finally(() => {
      key.asking = undefined;
      key.sent = false;
    });
    return key.asking;
  }

  wait(name: string): number {
    const key = this.#keyOf(name);
    const now = this.#reach.clock.now();
    if (this.#reach.away) return this.#terms.required ? RETRY_MS : key.share.wait();
    return this.#hasToken(key, now) ? 0 : Math.max(1, key.nextAt - now);
  }

  take(name: string): Taken {
    const key = this.#keyOf(name);
    const ofShareMs = key.share.take();
    if (this.#reach.away) {
      key.owed += 1;
      this.#owes(key);
      return { block: undefined, ofShareMs };
    }
    const { block } = key;
    if (block) block.left -= 1;
    key.used += 1;
    return { block, ofShareMs };
  }

  giveBack(name: string, taken: unknown): void {
    const key = this.#keyOf(name);
    const { block, ofShareMs } = taken as Taken;
    key.share.giveBack(ofShareMs);
    if (!block) {
      key.owed = Math.max(0, key.owed - 1);
      return;
    }
    block.left += 1;
    if (block !== key.block || this.#reach.clock.now() >= block.until) this.#giveBack(key, block);
  }

  #keyOf(name: string): Key {
    const known = this.#keys.get(name);
    if (known) return known;
    const key: Key = {
      id: this.#idOf(name),
      block: undefined,
      usedUpUntil: Number.NEGATIVE_INFINITY,
      nextAt: 0,
      asking: undefined,
      waiting: 0,
      sent: false,
      used: 0,
      askedAt: this.#reach.clock.now(),
      timer: undefined,
      share: new RateShare(this.#terms, this.#reach),
      owed: 0,
    };
    this.#keys.set(name, key);
    return key;
  }

  #hasToken({ block }: Key, now: number): boolean {
    return block !== undefined && block.left > 0 && (block.fresh || now < block.until);
  }

  /** One statement for all calls that wait. */
  async #ask(key: Key): Promise<void> {
    // Calls of the same moment come first.
    await Promise.resolve();
    const { clock } = this.#reach;
    this.#giveBlockBack(key);
    if (key.owed > 0) await this.#settled(key);
    const sentAt = clock.now();
    const want = key.waiting;
    const ahead = this.#aheadFor(key, want, sentAt);
    key.waiting = 0;
    key.sent = true;
    key.used = 0;
    key.askedAt = sentAt;
    const { burst, intervalMs } = this.#terms;
    const asked = { burst, intervalMs, want, ahead, holdMs: this.#holdMs };
    const taken = await this.#reach.ask((rows) => rows.takeTokens(key.id, asked));
    if (!taken) return;
    const now = clock.now();
    const until = sentAt + this.#holdMs;
    const block: Block = { left: taken.granted, until, fresh: true, earned: taken.earned };
    key.block = block;
    setImmediate(() => {
      block.fresh = false;
    });
    key.nextAt = now + taken.waitMs;
    key.usedUpUntil = taken.granted < want ? now + Math.min(USED_UP_MS, taken.waitMs) : now;
    key.timer = clock.after(Math.max(0, until - now), () => this.#giveBlockBack(key));
  }

  /** As many as are used within the hold time at the present pace; none where a block would be one token. */
  #aheadFor({ used, askedAt }: Key, want: number, now: number): number {
    const most = Math.floor(this.#terms.burst / BLOCK_SHARE);
    const pace = Math.ceil((used * this.#holdMs) / Math.max(1, now - askedAt));
    return most < 2 ? 0 : Math.max(0, Math.min(most, pace) - want);
  }

  /** What was not used goes back. */
  #giveBlockBack(key: Key): void {
    const { block } = key;
    key.timer?.cancel();
    key.timer = undefined;
    key.block = undefined;
    if (block) this.#giveBack(key, block);
  }

  /** Nobody asks for it any more. */
  #dropped(key: Key): void {
    this.#giveBlockBack(key);
    this.#owing.delete(key);
  }

  #giveBack({ id }: Key, block: Block): void {
    const count = block.left;
    if (count <= 0) return;
    block.left = 0;
    const back = { count, intervalMs: this.#terms.intervalMs, earned: block.earned };
    void this.#reach.ask((rows) => rows.giveTokensBack(id, back));
  }

  #owes(key: Key): void {
    this.#owing.add(key);
    this.#onOwing();
  }

  /** Tells the database what passed while it was away. Returns false if there is more to tell later. */
  settle(): boolean {
    if (!this.#settling && this.#owing.size > 0 && !this.#reach.away) void this.#settleAll();
    return this.#owing.size === 0;
  }

  /** One after the other: many statements at once would look as if the database were slow. */
  async #settleAll(): Promise<void> {
    this.#settling = true;
    for (const key of this.#owing) if (!(await this.#settled(key))) break;
    this.#settling = false;
  }

  async #settled(key: Key): Promise<boolean> {
    this.#owing.delete(key);
    // What is earned again by now counts no longer.
    const count = Math.min(key.owed, key.share.unearned);
    key.owed = 0;
    if (count <= 0) return true;
    const back = { count, intervalMs: this.#terms.intervalMs };
    const told = await this.#reach.ask(async (rows) => {
      await rows.countTokens(key.id, back);
      return true;
    });
    if (told) return true;
    key.owed += count;
    this.#owes(key);
    return false;
  }
}
