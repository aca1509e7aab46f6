/**
 * What callers have read, for the layer `flow`: in memory, and in the store of a gateway, so that it holds at
 * every gateway on the store and after a restart.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../kernel/clock.ts";
import { Lru } from "../kernel/lru.ts";

/** Reads in a store. Callers and rules are hashes. */
export interface ReadStore {
  /** Whether notes can be written now. */
  readonly up: boolean;
  /** Resolves once the store has it. */
  note(caller: string, rules: readonly string[], read: StoredRead): Promise<void>;
  /** What the caller read and has not expired, by rule. */
  of(caller: string): Promise<ReadonlyMap<string, string>>;
}

export interface StoredRead {
  /** `server:tool`. */
  readonly what: string;
  readonly forMs: number;
}

interface Read {
  readonly what: string;
  readonly until: number;
  /** Until then the store need not be told of another read. */
  readonly storedUntil: number;
}

const MAX_CALLERS = 100_000;
/**
 * Stored reads are kept longer by this share, so that further reads in that time need no statement: none of
 * them is forgotten too early.
 */
const STORED_SHARE = 0.1;

export class ReadLog {
  readonly #forMs: number;
  readonly #clock: Clock;
  readonly #store: ReadStore | undefined;
  /** By caller and rule. */
  readonly #callers = new Lru<string, Map<string, Read>>(MAX_CALLERS);
  readonly #noting = new Map<string, Promise<void>>();

  constructor(forMs: number, clock: Clock, store: ReadStore | undefined) {
    this.#forMs = forMs;
    this.#clock = clock;
    this.#store = store;
  }

  /** Whether a read can be noted now. */
  canNote(caller: string, rules: readonly string[]): boolean {
    return !this.#store || this.#store.up || this.#isStored(caller, rules);
  }

  /** Nothing of the read may leave before the promise resolves. Undefined if nothing has to be stored. */
  note(caller: string, rules: readonly string[], what: string): Promise<void> | undefined {
    if (!this.#store || this.#isStored(caller, rules)) {
      this.#remember(caller, rules, what, undefined);
      return undefined;
    }
    const key = JSON.stringify([caller, rules]);
    let noting = this.#noting.get(key);
    if (!noting) {
      noting = this.#write(this.#store, caller, rules, what).finally(() => this.#noting.delete(key));
      this.#noting.set(key, noting);
    }
    return noting;
  }

  /**
   * The first of the rules that the caller read something of. Asks the store if this process knows of none.
   */
  find(caller: string, rules: readonly string[]): ReadRule | undefined | Promise<ReadRule | undefined> {
    const now = this.#clock.now();
    const reads = this.#callers.get(caller);
    const known = firstOf(rules, (rule) => {
      const read = reads?.get(rule);
      return read && read.until > now ? read.what : undefined;
    });
    // A rule before it in the list may have been read elsewhere.
    if (!this.#store || known?.rule === rules[0]) return known;
    return this.#store.of(hashOf(caller)).then((stored) => {
      const found = firstOf(rules, (rule) => stored.get(rule));
      return found && (!known || rules.indexOf(found.rule) < rules.indexOf(known.rule)) ? found : known;
    });
  }

  async #write(store: ReadStore, caller: string, rules: readonly string[], what: string): Promise<void> {
    const storedUntil = this.#clock.now() + this.#forMs * STORED_SHARE;
    const forMs = Math.ceil(this.#forMs * (1 + STORED_SHARE));
    await store.note(hashOf(caller), rules, { what, forMs });
    this.#remember(caller, rules, what, storedUntil);
  }

  #remember(caller: string, rules: readonly string[], what: string, storedUntil: number | undefined): void {
    const reads = this.#callers.get(caller) ?? new Map<string, Read>();
    const until = this.#clock.now() + this.#forMs;
    for (const rule of rules)
      reads.set(rule, { what, until, storedUntil: storedUntil ?? reads.get(rule)?.storedUntil ?? 0 });
    this.#callers.set(caller, reads);
  }

  #isStored(caller: string, rules: readonly string[]): boolean {
    const reads = this.#callers.get(caller);
    const now = this.#clock.now();
    return reads !== undefined && rules.every((rule) => (reads.get(rule)?.storedUntil ?? 0) > now);
  }
}

export interface ReadRule {
  readonly rule: string;
  readonly what: string;
}

/** The same for the same parts at every gateway. */
export function hashOf(...parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

function firstOf(
  rules: readonly string[],
  whatOf: (rule: string) => string | undefined,
): ReadRule | undefined {
  for (const rule of rules) {
    const what = whatOf(rule);
    if (what !== undefined) return { rule, what };
  }
  return undefined;
}
