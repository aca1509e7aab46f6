/** The lease of a gateway with waiting calls. If a gateway dies its lease expires, and its waiting calls count as withdrawn. */
import { Mirror } from "../../access/mirror.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Store } from "../../store/store.ts";

/** The kind of record. */
const HOLDER = "approval-holder";
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

export interface HolderLeaseParts {
  readonly store: Pick<Store, "records">;
  readonly shared: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of this gateway while it runs. */
  readonly id: string;
  /** Whether any call waits here. */
  readonly needed: () => boolean;
}

export class HolderLease {
  readonly kind = HOLDER;
  readonly #parts: HolderLeaseParts;
  readonly #mirror: Mirror<{ readonly until: number }>;
  #until = 0;
  #renewing: Timer | undefined;

  constructor(parts: HolderLeaseParts) {
    this.#parts = parts;
    this.#mirror = new Mirror(parts.store, HOLDER);
  }

  load(): Promise<void> {
    return this.#mirror.load();
  }

  isAlive(holder: string): boolean {
    const { id, shared } = this.#parts;
    const until = shared ? this.#mirror.values.get(holder)?.until : undefined;
    return holder === id || (until !== undefined && until > Date.now());
  }

  /** When it resolves, other gateways know that this one is alive. */
  async hold(): Promise<void> {
    if (this.#until - Date.now() < LEASE_MS - RENEW_MS) await this.#renew();
  }

  async release(): Promise<void> {
    this.#renewing?.cancel();
    const { store, id } = this.#parts;
    if (this.#until > 0) await store.records.delete(HOLDER, id);
  }

  async #renew(): Promise<void> {
    const { store, clock, id } = this.#parts;
    const until = Date.now() + LEASE_MS;
    await store.records.put({ kind: HOLDER, id, value: { until }, expiresAt: until });
    this.#until = until;
    this.#renewing?.cancel();
    this.#renewing = clock.after(RENEW_MS, () => this.#renewAgain());
  }

  #renewAgain(): void {
    const { log, clock, needed } = this.#parts;
    if (!needed()) return;
    this.#renew().catch((error: Error) => {
      log.debug(`the lease of this gateway could not be renewed: ${error.message}`);
      this.#renewing = clock.after(RENEW_MS, () => this.#renewAgain());
    });
  }
}
