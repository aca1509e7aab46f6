/**
 * Read your writes over gateways on one store: a request that follows a change at another gateway sees it.
 * Answers carry a mark of what was known, and a gateway that is behind the mark of a request catches up
 * first.
 */
import { ACCOUNT } from "../../access/account.ts";
import { API_KEY } from "../../access/api-key.ts";
import { CONSOLE_SESSION } from "../../access/console-session.ts";
import { USER_SECRET } from "../../access/user-secrets.ts";
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Store } from "../../store/store.ts";

/** What is kept in memory, the config first. Their order is that of the numbers in a mark: add at the end. */
const KINDS = ["", ACCOUNT, API_KEY, CONSOLE_SESSION, USER_SECRET] as const;
const MARK = /^\d{1,15}(?:\.\d{1,15}){0,15}$/;
const MOST_MS = 1_000;
/** Between two looks into the store: strangers with wrong credentials must not make many statements. */
const PAUSE_MS = 50;

export interface InStepParts {
  readonly store: Pick<Store, "catchUp" | "versionOf">;
  readonly clock: Clock;
  /** Resolves when everything that the store has reported is in memory. Undefined if it is. */
  readonly settled: () => Promise<unknown> | undefined;
}

export class InStep {
  readonly #parts: InStepParts;
  #looking: Promise<void> = Promise.resolve();
  /** A look that has not begun. Those who want another look share it. */
  #next: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: InStepParts) {
    this.#parts = parts;
  }

  /** What is known here: the revision of the config, and versions of records. */
  get mark(): string {
    return KINDS.map((kind) => this.#parts.store.versionOf(kind)).join(".");
  }

  /** Waits until everything that the mark stands for is known here. Undefined if it is. */
  reach(mark: unknown): Promise<void> | undefined {
    return this.#isBehind(mark) ? this.catchUp() : this.#settle();
  }

  /** Waits until everything that was written before is known here, for a second at most. Never rejects. */
  async catchUp(): Promise<void> {
    const { clock } = this.#parts;
    const looked = this.#look().then(() => this.#parts.settled());
    await isDoneWithin(
      clock,
      MOST_MS,
      looked.catch(() => {}),
    );
  }

  #settle(): Promise<void> | undefined {
    const settled = this.#parts.settled();
    return settled && isDoneWithin(this.#parts.clock, MOST_MS, settled).then(() => {});
  }

  #isBehind(mark: unknown): boolean {
    if (typeof mark !== "string" || !MARK.test(mark)) return false;
    return mark.split(".").some((n, at) => {
      const kind = KINDS[at];
      return kind !== undefined && Number(n) > this.#parts.store.versionOf(kind);
    });
  }

  #look(): Promise<void> {
    const { store, clock } = this.#parts;
    this.#next ??= this.#looking.then(async () => {
      const wait = this.#lookedAt + PAUSE_MS - clock.now();
      if (wait > 0) await new Promise<void>((resolve) => void clock.after(wait, resolve));
      this.#next = undefined;
      this.#lookedAt = clock.now();
      await store.catchUp();
    });
    this.#looking = this.#next.catch(() => {});
    return this.#next;
  }
}
