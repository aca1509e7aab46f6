/**
 * The pool: how many connections may exist at once, over all children, and who gets the next place. Knows nothing of
 * what a connection is for; it neither connects nor finds one, and never ends one that is in use.
 */
import type { Lifecycle, PoolOptions } from "../config/spec.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import {
  endsWhenIdle,
  evicted,
  idleSeats,
  inOrderOfYielding,
  overdue,
  type PoolRoom,
  type Seat,
} from "./pool-eviction.ts";

export interface Pooled {
  readonly lifecycle: Lifecycle;
  /** For the log. */
  readonly label: string;
  /**
   * Ends it for good; resolves when nothing of it is left. Called at most once by the pool, possibly from within
   * `Place.idle()`, and also while its owner is ending it. From this call on the owner must not use it.
   */
  end(reason: string): Promise<void>;
}

/** The right to one connection. It counts from the moment it is given until it is free again, connecting or ending too. */
export interface PoolSlot {
  /** The connection is there, and busy. */
  occupy(connection: Pooled): void;
  /** The first request goes out on it. */
  busy(): void;
  /** The last request came back. */
  idle(): void;
  /** The connect failed, or the connection has ended and nothing of it is left. Safe to call twice. */
  free(): void;
}

export interface PoolStats {
  readonly places: number;
  readonly idle: number;
  readonly waiting: number;
}

interface Waiter {
  readonly since: number;
  readonly until: number;
  /** Takes it out of the queue, its timer and listener too. */
  leave(): void;
  resolve(place: PoolSlot): void;
  reject(reason: unknown): void;
}

interface Occupied extends Seat {
  connection: Pooled | undefined;
}

interface OwnRoom extends PoolRoom<Occupied> {
  readonly seats: Set<Occupied>;
  ending: number;
  options: PoolOptions;
}

const SWEEP_EVERY_MS = 60_000;
/** Nobody knows when a place becomes free; soon enough for a caller to try again. */
const RETRY_HINT_MS = 1_000;

export class Pool {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #room: OwnRoom;
  /** In the order of coming. */
  readonly #waiters = new Set<Waiter>();
  #sweep: Timer;
  #reserve: Timer | undefined;
  #turns = 0;
  #closed = false;
  readonly #onWaiting: ((waiting: number) => void) | undefined;
  #told = 0;

  constructor(options: PoolOptions, clock: Clock, log: Log, onWaiting?: (waiting: number) => void) {
    this.#onWaiting = onWaiting;
    this.#room = { seats: new Set(), ending: 0, options };
    this.#clock = clock;
    this.#log = log;
    this.#sweep = clock.after(SWEEP_EVERY_MS, () => this.#sweepNow());
  }

  get stats(): PoolStats {
    const { seats } = this.#room;
    return { places: seats.size, idle: idleSeats(this.#room).length, waiting: this.#waiters.size };
  }

  /** Whether one more connection would get a place without waiting for one that is in use. */
  get hasRoom(): boolean {
    const { seats, ending, options } = this.#room;
    const waiting = this.#waiters.size + 1;
    if (seats.size - ending + waiting <= options.poolSize) return true;
    return evicted(this.#room, { waiting, reserveComes: true }) !== undefined;
  }

  /**
   * A place for one new connection, first come, first served. Rejects with `pool_exhausted` after `waitMs`, or with the
   * signal's reason. A place once given is the caller's to free.
   */
  acquire(waitMs: number, signal?: AbortSignal): Promise<PoolSlot> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw stopping();
      signal?.throwIfAborted();
      const since = this.#clock.now();
      let timer: Timer | undefined;
      const abort = () => this.#dismiss(waiter, signal?.reason);
      const leave = () => {
        this.#waiters.delete(waiter);
        timer?.cancel();
        signal?.removeEventListener("abort", abort);
      };
      const waiter: Waiter = { since, until: since + waitMs, leave, resolve, reject };
      this.#waiters.add(waiter);
      this.#serve();
      if (!this.#waiters.has(waiter)) return;
      this.#tell();
      signal?.addEventListener("abort", abort);
      if (Number.isFinite(waitMs)) timer = this.#clock.after(waitMs, () => this.#expire(waiter));
    });
  }

  /** New bounds, from now on, and maybe new lifecycles. What is over them goes as soon as it is idle. */
  configure(options: PoolOptions): void {
    this.#room.options = options;
    if (this.#closed) return;
    // One that is gone at once makes others yield meanwhile.
    for (const seat of inOrderOfYielding(idleSeats(this.#room)))
      if (seat.phase === "idle" && endsWhenIdle(seat, this.#room))
        this.#end(seat, "it is idle and not needed");
    this.#serve();
  }

  /** Gives no more places and ends nothing more: ending what is left is the owner's from here on. */
  close(): void {
    this.#closed = true;
    this.#sweep.cancel();
    this.#reserve?.cancel();
    for (const waiter of this.#waiters) {
      waiter.leave();
      waiter.reject(stopping());
    }
  }

  #dismiss(waiter: Waiter, reason: unknown): void {
    waiter.leave();
    waiter.reject(reason);
    this.#serve();
  }

  #expire(waiter: Waiter): void {
    this.#serve(); // Whoever may have a reserve place from this very moment on gets it.
    if (!this.#waiters.has(waiter)) return;
    const { poolSize } = this.#room.options;
    const waited = Math.round(waiter.until - waiter.since);
    const error = new MetaMcpError(
      "pool_exhausted",
      `All ${poolSize} connections are in use and none became free within ${waited} ms. ` +
        "Try again when other calls have finished, or raise --max-connections.",
      { retryAfterMs: RETRY_HINT_MS },
    );
    this.#dismiss(waiter, error);
  }

  /** Gives out what is free, then sees to it that more becomes free. */
  #serve(): void {
    if (this.#closed) return;
    for (const waiter of this.#waiters) {
      if (!this.#mayEnter(waiter)) break;
      waiter.leave();
      waiter.resolve(this.#give());
    }
    this.#makeRoom();
    this.#awaitReserve();
    if (this.#told > 0) this.#tell();
  }

  /** Says how many wait; whoever gets a place at once never waited. */
  #tell(): void {
    const { size } = this.#waiters;
    if (size === this.#told) return;
    this.#told = size;
    this.#onWaiting?.(size);
  }

  #mayEnter(waiter: Waiter): boolean {
    const { poolSize, resPoolSize, resPoolTimeout } = this.#room.options;
    if (this.#room.seats.size < poolSize) return true;
    return (
      this.#room.seats.size < poolSize + resPoolSize && this.#clock.now() - waiter.since >= resPoolTimeout
    );
  }

  #give(): PoolSlot {
    const seat: Occupied = {
      phase: "connecting",
      idleSince: 0,
      turn: 0,
      connection: undefined,
      get lifecycle() {
        return this.connection?.lifecycle;
      },
    };
    this.#room.seats.add(seat);
    return {
      occupy: (connection) => this.#occupy(seat, connection),
      busy: () => this.#busy(seat),
      idle: () => this.#becameIdle(seat),
      free: () => this.#free(seat),
    };
  }

  #makeRoom(): void {
    for (;;) {
      const first = this.#firstWaiting();
      const reserveComes = first !== undefined && this.#reserveAt(first) <= first.until;
      const seat = evicted(this.#room, { waiting: this.#waiters.size, reserveComes });
      if (!seat) return;
      if (seat.lifecycle?.mode === "keep-alive") {
        this.#log.warn(
          "A keep-alive server was stopped to free a connection: all connections belong to keep-alive servers.",
          {
            child: seat.connection?.label,
            poolSize: this.#room.options.poolSize,
          },
        );
      }
      this.#end(seat, "another server needed its place in the pool");
    }
  }

  #firstWaiting(): Waiter | undefined {
    return this.#waiters.values().next().value;
  }

  /** When the waiter may have a reserve place; never, if all of them are in use. */
  #reserveAt(waiter: Waiter): number {
    const { poolSize, resPoolSize, resPoolTimeout } = this.#room.options;
    const open = this.#room.seats.size < poolSize + resPoolSize;
    return open ? waiter.since + resPoolTimeout : Number.POSITIVE_INFINITY;
  }

  #awaitReserve(): void {
    this.#reserve?.cancel();
    this.#reserve = undefined;
    const first = this.#firstWaiting();
    const at = first === undefined ? Number.POSITIVE_INFINITY : this.#reserveAt(first);
    if (Number.isFinite(at)) this.#reserve = this.#clock.after(at - this.#clock.now(), () => this.#serve());
  }

  #occupy(seat: Occupied, connection: Pooled): void {
    if (seat.phase !== "connecting") throw misused("occupied", seat);
    seat.phase = "busy";
    seat.connection = connection;
    this.#serve(); // One more keep-alive child may mean that nothing else can yield.
  }

  #busy(seat: Occupied): void {
    if (seat.phase !== "idle" && seat.phase !== "busy") throw misused("used", seat);
    seat.phase = "busy";
  }

  #becameIdle(seat: Occupied): void {
    if (seat.phase !== "busy") return; // The last request of a connection that has ended meanwhile.
    seat.phase = "idle";
    seat.idleSince = this.#clock.now();
    seat.turn = ++this.#turns;
    if (this.#closed) return;
    if (endsWhenIdle(seat, this.#room)) this.#end(seat, "it is idle and not needed");
    else if (this.#waiters.size > 0) this.#serve();
  }

  #end(seat: Occupied, reason: string): void {
    seat.phase = "ending";
    this.#room.ending += 1;
    void this.#ended(seat, reason).then(() => this.#free(seat));
  }

  async #ended(seat: Occupied, reason: string): Promise<void> {
    const { connection } = seat;
    this.#log.debug("Ending a connection.", { child: connection?.label, reason });
    try {
      await connection?.end(reason);
    } catch (error) {
      this.#log.warn("A connection did not end cleanly.", { child: connection?.label, error: String(error) });
    }
  }

  #free(seat: Occupied): void {
    if (seat.phase === "ending") this.#room.ending -= 1;
    seat.phase = "free";
    this.#room.seats.delete(seat);
    this.#serve();
  }

  #sweepNow(): void {
    this.#sweep = this.#clock.after(SWEEP_EVERY_MS, () => this.#sweepNow());
    for (;;) {
      const seat = overdue(this.#room, this.#clock.now());
      if (!seat) return;
      this.#end(seat, "it was idle for too long");
    }
  }
}

function stopping(): MetaMcpError {
  return new MetaMcpError("server_unavailable", "MetaMCP is stopping and starts no more servers.");
}

function misused(how: string, seat: Occupied): MetaMcpError {
  const label = seat.connection?.label ?? "not yet connected";
  return new MetaMcpError("internal", `A place that is ${seat.phase} (${label}) was ${how}.`);
}
