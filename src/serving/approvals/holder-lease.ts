/**
 * Whether the gateway at which a call waits is alive. Gateways on Postgres are listed in the store while they
 * live. Older versions know only a lease, which a gateway with waiting calls renews.
 */
import { Mirror } from "../../access/mirror.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { Store } from "../../store/store.ts";

/** The kind of record. */
const HOLDER = "approval-holder";
/** The id of a replica. Gateways of older versions have a UUID. */
const REPLICA = /^[0-9a-f]{8}$/;
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;

/** The gateways on the store. */
export interface Holders {
  isListed(id: string): boolean;
  /** Reads the list as it is now. */
  refresh(): Promise<void>;
}

export interface HolderLeaseParts {
  readonly store: Pick<Store, "records">;
  /** Undefined on an embedded store. */
  readonly holders?: Holders | undefined;
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

  /** Whether the holder confirms a decision before it makes the call. */
  confirms(holder: string): boolean {
    return this.#parts.holders !== undefined && REPLICA.test(holder);
  }

  /** Asks the store before it says no: a gateway that has just started may not be known yet. */
  async isAliveNow(holder: string): Promise<boolean> {
    if (this.isAlive(holder)) return true;
    await this.#parts.holders?.refresh();
    return this.isAlive(holder);
  }

  isAlive(holder: string): boolean {
    const { id, shared, holders } = this.#parts;
    if (holders && this.confirms(holder)) return holder === id || holders.isListed(holder);
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
