/**
 * Sends the statements of limits. Knows whether the database answers: while it does not, each replica has its
 * share of every limit.
 */
import { isDoneWithin } from "../../kernel/at-most.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { StoreError } from "../../store/error.ts";
import type { LimitRows } from "../../store/limits.ts";
import type { Store } from "../../store/store.ts";

/** A call waits no longer than this for a database that hangs. */
const ANSWER_MS = 2_000;
/** Whoever was refused because the database is away should try again after this time. */
export const RETRY_MS = 1_000;

export interface ReachParts {
  readonly store: Pick<Store, "state">;
  readonly rows: LimitRows;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of replicas that were known last, this one included. */
  readonly replicas: () => number;
  /** The others may have called this replica dead. */
  readonly uncertain: () => boolean;
  /** Resolves when that is known, and `lost` was called if they have; or when it cannot be known now. */
  readonly certain: () => Promise<unknown>;
}

export class Reach {
  readonly #parts: ReachParts;
  /** Statements without an answer for too long. */
  #hanging = 0;
  #warned = false;

  constructor(parts: ReachParts) {
    this.#parts = parts;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** While this process was stopped, the others may have taken what it had. */
  get uncertain(): boolean {
    return this.#parts.uncertain();
  }

  /** Resolves when that is known, or cannot be known now. Never rejects. */
  async certain(): Promise<void> {
    if (!this.uncertain) return;
    await isDoneWithin(
      this.clock,
      ANSWER_MS,
      this.#parts.certain().catch(() => {}),
    );
  }

  get replicas(): number {
    return Math.max(1, this.#parts.replicas());
  }

  /** The database does not answer. */
  get away(): boolean {
    const away = this.#hanging > 0 || !this.#parts.store.state.up;
    if (away !== this.#warned) this.#warn(away);
    return away;
  }

  #warn(away: boolean): void {
    const { log } = this.#parts;
    this.#warned = away;
    if (away)
      log.warn("limits are not shared while the database is away: each replica has its share", {
        replicas: this.replicas,
      });
    else log.info("limits are shared again");
  }

  /**
   * Resolves with undefined if the database is away, or refuses the statement. Never rejects. A process that
   * was stopped may read an answer before it notices how late that is: what it grants is old by then.
   */
  async ask<T>(statement: (rows: LimitRows) => Promise<T>): Promise<T | undefined> {
    if (this.away) return undefined;
    const { rows, clock, log } = this.#parts;
    const sentAt = clock.now();
    let late = false;
    let ended = false;
    const answer = statement(rows)
      .catch((error: unknown) => {
        // The store has noted that it is down, except for faults such as a deadlock.
        if (!StoreError.is(error)) log.error("a statement of a limit failed", { error });
        return undefined;
      })
      .finally(() => {
        ended = true;
        if (late) this.#hanging -= 1;
      });
    return await new Promise<T | undefined>((resolve) => {
      const timer = clock.after(ANSWER_MS, () => {
        if (ended) return;
        late = true;
        this.#hanging += 1;
        resolve(undefined);
      });
      const isOld = (): boolean => clock.now() - sentAt > ANSWER_MS;
      void answer.then((granted) => resolve(isOld() ? undefined : granted)).finally(() => timer.cancel());
    });
  }
}

/** For limits that refuse while their counts are not known. */
export function notKnown(): MetaMcpError {
  return new MetaMcpError(
    "rate_limited",
    "A limit cannot be checked, because the database of the gateway is away: nothing was done. Try again later.",
    { retryAfterMs: RETRY_MS },
  );
}
