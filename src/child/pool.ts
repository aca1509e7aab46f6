/**
 * The connection pool: limits the number of connections of all children, and decides who gets the next slot.
 * It opens and finds no connection, and never ends one that is in use.
 */
import type { PoolOptions } from "../config/spec.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import {
  endsWhenIdle,
  idleSlots,
  inEvictionOrder,
  type PoolState,
  slotToEvict,
  slotToSweep,
} from "./pool-eviction.ts";
import { type PoolSlot, Slot, type SlotListener, type SlotPhase } from "./pool-slot.ts";
import { Waiter } from "./pool-waiter.ts";

export interface PoolStats {
  readonly slots: number;
  readonly idle: number;
  readonly waiting: number;
}

interface OwnState extends PoolState {
  readonly slots: Set<Slot>;
  ending: number;
  options: PoolOptions;
}

const SWEEP_EVERY_MS = 60_000;
/** Suggested wait before a caller tries again. The time at which a slot becomes free is unknown. */
const RETRY_HINT_MS = 1_000;

export class Pool {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #state: OwnState;
  /** First come, first served. */
  readonly #waiters = new Set<Waiter>();
  readonly #slotListener: SlotListener;
  #sweep: Timer;
  /** Fires when the first waiter may have a reserve slot. */
  #reserve: Timer | undefined;
  #turns = 0;
  #closed = false;
  readonly #onWaiting: ((waiting: number) => void) | undefined;
  #reportedWaiting = 0;

  constructor(options: PoolOptions, clock: Clock, log: Log, onWaiting?: (waiting: number) => void) {
    this.#onWaiting = onWaiting;
    this.#state = { slots: new Set(), ending: 0, options };
    this.#clock = clock;
    this.#log = log;
    this.#slotListener = {
      // If the new connection is keep-alive, it may now be necessary to evict a keep-alive one.
      onOccupied: () => this.#serve(),
      onIdle: (slot) => this.#becameIdle(slot),
      onFree: (slot, from) => this.#freed(slot, from),
    };
    this.#sweep = clock.after(SWEEP_EVERY_MS, () => this.#sweepNow());
  }

  get stats(): PoolStats {
    const { slots } = this.#state;
    return { slots: slots.size, idle: idleSlots(this.#state).length, waiting: this.#waiters.size };
  }

  /** Whether one more connection would get a slot without waiting for one that is in use. */
  get hasRoom(): boolean {
    const { slots, ending, options } = this.#state;
    const waiting = this.#waiters.size + 1;
    if (slots.size - ending + waiting <= options.poolSize) return true;
    return slotToEvict(this.#state, { waiting, reserveComes: true }) !== undefined;
  }

  /**
   * Waits for a slot for one new connection. Rejects with `pool_exhausted` after `waitMs`, or with the
   * signal's reason. The caller must free the slot.
   */
  acquire(waitMs: number, signal?: AbortSignal): Promise<PoolSlot> {
    if (this.#closed) return Promise.reject(stopping());
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const waiter = new Waiter(this.#clock, waitMs, signal);
    this.#waiters.add(waiter);
    this.#serve();
    if (this.#waiters.has(waiter)) {
      this.#reportWaiting();
      waiter.watch({
        onTimeout: () => this.#expire(waiter),
        onAbort: (reason) => this.#dismiss(waiter, reason),
      });
    }
    return waiter.slot;
  }

  /**
   * Applies new limits, and lifecycles that may have changed. Connections over the limit end as soon as they
   * are idle.
   */
  configure(options: PoolOptions): void {
    this.#state.options = options;
    if (this.#closed) return;
    // A connection that ends synchronously serves waiters, which may evict others: so each phase is checked
    // again.
    for (const slot of inEvictionOrder(idleSlots(this.#state)))
      if (slot.phase === "idle" && endsWhenIdle(slot, this.#state))
        this.#end(slot, "it is idle and not needed");
    this.#serve();
  }

  /** Rejects all waiters and gives out no more slots. Does not end connections: the owner must do that. */
  close(): void {
    this.#closed = true;
    this.#sweep.cancel();
    this.#reserve?.cancel();
    for (const waiter of this.#waiters) waiter.refuse(stopping());
    this.#waiters.clear();
  }

  #dismiss(waiter: Waiter, reason: unknown): void {
    this.#waiters.delete(waiter);
    waiter.refuse(reason);
    this.#serve();
  }

  #expire(waiter: Waiter): void {
    this.#serve(); // At this moment the waiter may have become entitled to a reserve slot.
    if (!this.#waiters.has(waiter)) return;
    const { poolSize } = this.#state.options;
    const waited = Math.round(waiter.until - waiter.since);
    const error = new MetaMcpError(
      "pool_exhausted",
      `All ${poolSize} connections are in use and none became free within ${waited} ms. ` +
        "Try again when other calls have finished, or raise --max-connections.",
      { retryAfterMs: RETRY_HINT_MS },
    );
    this.#dismiss(waiter, error);
  }

  /** Gives free slots to waiters, then evicts idle connections if waiters are left. */
  #serve(): void {
    if (this.#closed) return;
    for (const waiter of this.#waiters) {
      if (!this.#mayEnter(waiter)) break;
      const slot = new Slot(this.#slotListener);
      this.#state.slots.add(slot);
      this.#waiters.delete(waiter);
      waiter.give(slot);
    }
    this.#makeRoom();
    this.#awaitReserve();
    if (this.#reportedWaiting > 0) this.#reportWaiting();
  }

  /** Reports the number of waiters if it changed. A caller that gets a slot at once is not counted. */
  #reportWaiting(): void {
    const { size } = this.#waiters;
    if (size === this.#reportedWaiting) return;
    this.#reportedWaiting = size;
    this.#onWaiting?.(size);
  }

  #mayEnter(waiter: Waiter): boolean {
    const { poolSize, resPoolSize, resPoolTimeout } = this.#state.options;
    if (this.#state.slots.size < poolSize) return true;
    return (
      this.#state.slots.size < poolSize + resPoolSize && this.#clock.now() - waiter.since >= resPoolTimeout
    );
  }

  #makeRoom(): void {
    for (;;) {
      const first = this.#firstWaiting();
      const reserveComes = first !== undefined && this.#reserveAt(first) <= first.until;
      const slot = slotToEvict(this.#state, { waiting: this.#waiters.size, reserveComes });
      if (!slot) return;
      if (slot.lifecycle?.mode === "keep-alive") {
        this.#log.warn(
          "A keep-alive server was stopped to free a connection: all connections belong to keep-alive servers.",
          {
            child: slot.connection?.label,
            poolSize: this.#state.options.poolSize,
          },
        );
      }
      this.#end(slot, "another server needed its place in the pool");
    }
  }

  #firstWaiting(): Waiter | undefined {
    return this.#waiters.values().next().value;
  }

  /** The time from which the waiter may have a reserve slot; Infinity if all of them are in use. */
  #reserveAt(waiter: Waiter): number {
    const { poolSize, resPoolSize, resPoolTimeout } = this.#state.options;
    const open = this.#state.slots.size < poolSize + resPoolSize;
    return open ? waiter.since + resPoolTimeout : Number.POSITIVE_INFINITY;
  }

  #awaitReserve(): void {
    this.#reserve?.cancel();
    this.#reserve = undefined;
    const first = this.#firstWaiting();
    const at = first === undefined ? Number.POSITIVE_INFINITY : this.#reserveAt(first);
    if (Number.isFinite(at)) this.#reserve = this.#clock.after(at - this.#clock.now(), () => this.#serve());
  }

  #becameIdle(slot: Slot): void {
    slot.idleSince = this.#clock.now();
    slot.turn = ++this.#turns;
    if (this.#closed) return;
    if (endsWhenIdle(slot, this.#state)) this.#end(slot, "it is idle and not needed");
    else if (this.#waiters.size > 0) this.#serve();
  }

  #end(slot: Slot, reason: string): void {
    slot.phase = "ending";
    this.#state.ending += 1;
    void this.#ended(slot, reason).then(() => slot.free());
  }

  async #ended(slot: Slot, reason: string): Promise<void> {
    const { connection } = slot;
    this.#log.debug("Ending a connection.", { child: connection?.label, reason });
    try {
      await connection?.end(reason);
    } catch (error) {
      this.#log.warn("A connection did not end cleanly.", { child: connection?.label, error: String(error) });
    }
  }

  #freed(slot: Slot, from: SlotPhase): void {
    if (from === "ending") this.#state.ending -= 1;
    this.#state.slots.delete(slot);
    this.#serve();
  }

  #sweepNow(): void {
    this.#sweep = this.#clock.after(SWEEP_EVERY_MS, () => this.#sweepNow());
    for (;;) {
      const slot = slotToSweep(this.#state, this.#clock.now());
      if (!slot) return;
      this.#end(slot, "it was idle for too long");
    }
  }
}

function stopping(): MetaMcpError {
  return new MetaMcpError("server_unavailable", "MetaMCP is stopping and starts no more servers.");
}
