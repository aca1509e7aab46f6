/**
 * The replicas on the store, as this one knows them. Says by beats that this one lives, and removes those
 * that do not.
 */
import { isDoneWithin } from "../kernel/at-most.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import { StoreError } from "../store/error.ts";
import type { NewReplica, ReplicaRow, Replicas } from "../store/replicas.ts";
import { REPLICAS } from "../store/replicas.ts";
import type { Store } from "../store/store.ts";
import { BEAT_MS, DEAD_MS, isDead, LEASE_MS, REFUSING_DEAD_MS } from "./liveness.ts";

const LEAVE_MS = 1_000;
/** A request waits so long to learn whether its session is still here. */
const CERTAIN_MS = 10_000;
/** Rows of this age are good enough to judge: many requests may wait for the verdict. */
const FRESH_MS = 200;
/** A store that has not answered by then may hang. */
const STORE_MS = 300;

export interface MembersParts {
  readonly self: Omit<NewReplica, "address">;
  readonly store: Pick<Store, "onChange" | "onState" | "state">;
  readonly replicas: Replicas;
  readonly clock: Clock;
  readonly log: Log;
  /** Figures for people, stored with each beat. */
  readonly about: () => unknown;
  /** Throws if this replica does not fit to the others. */
  readonly check: (others: readonly ReplicaRow[]) => void;
  /**
   * Others removed this replica, which is listed again: they may have taken its sessions. Until it resolves
   * no session is served.
   */
  readonly onRemoved: () => Promise<void>;
  /** Asks the other replicas whether the store may answer one of them, or one has removed this one. */
  readonly othersReachStore: () => Promise<boolean>;
  /** Another replica has come. */
  readonly onCame: (row: ReplicaRow) => void;
  /** A replica is gone. */
  readonly onGone: (row: ReplicaRow) => void;
  /** Rows were read. */
  readonly onChange: () => void;
}

export class Members {
  readonly #parts: MembersParts;
  #address: string | undefined;
  #rows: ReadonlyMap<string, ReplicaRow> = new Map();
  #timer: Timer | undefined;
  #beating: Promise<void> | undefined;
  /** When the last successful beat was sent. */
  #beatAt = Number.NEGATIVE_INFINITY;
  /** When it was last known that the store answered no replica. */
  #awayAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<boolean> | undefined;
  readonly #removals = new Map<string, Promise<boolean>>();
  /** Since when the database was reached without a break. */
  #settledAt: number | undefined;
  #stops: (() => void)[] = [];
  #left = false;

  constructor(parts: MembersParts) {
    this.#parts = parts;
  }

  get #row(): NewReplica {
    return { ...this.#parts.self, address: this.#address };
  }

  get self(): string {
    return this.#parts.self.id;
  }

  /** All replicas that are listed, this one included. */
  get all(): readonly ReplicaRow[] {
    return [...this.#rows.values()];
  }

  /** Undefined if no replica of that id is listed. */
  of(id: string): ReplicaRow | undefined {
    return this.#rows.get(id);
  }

  /** `address`: where the others reach this one; undefined if it shares nothing with them. */
  async join(address: string | undefined): Promise<void> {
    const { store, replicas, check } = this.#parts;
    this.#address = address;
    await replicas.join(this.#row, (others) => check(others.filter(isRecent)));
    await this.#beat();
    this.#stops = [
      store.onChange((change) => {
        if (change.of === "records" && change.kind === REPLICAS) void this.refresh();
      }),
      // Others must not wait for the next beat to learn that this replica outlived the outage.
      store.onState(({ up }) => {
        if (up) void this.refresh();
        else this.#settledAt = undefined;
      }),
    ];
  }

  /** Reads the rows as they are now. Never rejects. */
  async refresh(): Promise<void> {
    await this.#beatAnew().catch(() => {});
  }

  /** The rows of a beat that was sent before say nothing about what has happened since then. */
  async #beatAnew(): Promise<void> {
    await this.#beating?.catch(() => {});
    await this.#beat();
  }

  /** The store answers this replica, which therefore may call others dead. */
  get reachesStore(): boolean {
    const { clock, store } = this.#parts;
    return store.state.up && clock.now() - this.#beatAt <= LEASE_MS;
  }

  /** How old the rows are. While the store does not answer, nobody's silence is known: 0. */
  get ageMs(): number {
    return this.reachesStore ? this.#parts.clock.now() - this.#beatAt : 0;
  }

  /**
   * Others may have called this replica dead while it was stopped or cut off, and may have taken its
   * sessions. While the store answers nobody they cannot: the next one that it answers must wait first.
   */
  get uncertain(): boolean {
    return this.#parts.clock.now() - Math.max(this.#beatAt, this.#awayAt) > LEASE_MS;
  }

  /** Resolves when it is known which sessions are still here; with false if that cannot be known now. */
  async certain(): Promise<boolean> {
    this.#asking ??= this.#askForCertainty().finally(() => {
      this.#asking = undefined;
    });
    return await this.#asking;
  }

  async #askForCertainty(): Promise<boolean> {
    const { clock, othersReachStore } = this.#parts;
    const end = clock.now() + CERTAIN_MS;
    while (clock.now() < end) {
      if (await isDoneWithin(clock, STORE_MS, this.#beatAnew()).catch(() => false)) return true;
      if (!(await othersReachStore())) {
        this.#awayAt = clock.now();
        return true;
      }
      await new Promise<void>((resolve) => void clock.after(STORE_MS, resolve));
    }
    return false;
  }

  /** Judges a replica that could not be reached since `since`. Removes it if it is dead. */
  async judge(
    id: string,
    { refuses, since }: { refuses: boolean; since: number },
  ): Promise<"gone" | "alive" | "unknown"> {
    const { clock } = this.#parts;
    if (clock.now() - this.#beatAt > FRESH_MS) await this.#beatAnew();
    const row = this.#rows.get(id);
    if (!row) return "gone";
    if (row.silentMs < this.#beatAt - since) return "alive";
    const settledMs = clock.now() - (this.#settledAt ?? clock.now());
    if (!isDead({ silentMs: row.silentMs, refuses, settledMs })) return "unknown";
    return (await this.#remove(id, refuses ? REFUSING_DEAD_MS : DEAD_MS)) ? "gone" : "alive";
  }

  /** All requests for sessions of a dead replica judge it at once: one statement is enough. */
  #remove(id: string, silentMs: number): Promise<boolean> {
    const key = `${id} ${silentMs}`;
    const known = this.#removals.get(key);
    if (known) return known;
    const removal = this.#removeOnce(id, silentMs).finally(() => this.#removals.delete(key));
    this.#removals.set(key, removal);
    return removal;
  }

  async #removeOnce(id: string, silentMs: number): Promise<boolean> {
    const { replicas, log } = this.#parts;
    if (!(await replicas.remove(id, silentMs))) return false;
    log.warn("a replica is dead: its sessions go on at the others", { replica: id });
    await this.#beatAnew();
    return true;
  }

  async drain(): Promise<void> {
    await this.#parts.replicas.drain(this.self).catch(() => {});
  }

  async leave(): Promise<void> {
    this.#left = true;
    this.#timer?.cancel();
    for (const stop of this.#stops) stop();
    const { clock, replicas } = this.#parts;
    // A store that hangs must not hold the stop: the others find the row of a dead replica.
    await isDoneWithin(
      clock,
      LEAVE_MS,
      replicas.leave(this.self).catch(() => {}),
    );
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#beatOnce().finally(() => {
      this.#beating = undefined;
      if (this.#left) return;
      this.#timer?.cancel();
      this.#timer = this.#parts.clock.after(BEAT_MS, () => void this.#beat().catch(() => {}));
    });
    return this.#beating;
  }

  async #beatOnce(): Promise<void> {
    const { replicas, clock, about, onRemoved } = this.#parts;
    const sentAt = clock.now();
    try {
      const rows = await replicas.beat(this.self, about());
      if (this.#left) return;
      if (!rows.some(({ id }) => id === this.self)) {
        await replicas.join(this.#row);
        await onRemoved();
      }
      // A store that hung, or a process that was stopped, fails no beat. All rows may be old all the same.
      const answeredAt = clock.now();
      if (answeredAt - this.#beatAt > LEASE_MS) this.#settledAt = undefined;
      this.#beatAt = sentAt;
      this.#settledAt ??= answeredAt;
      this.#take(rows);
    } catch (error) {
      this.#settledAt = undefined;
      if (!StoreError.is(error)) this.#parts.log.error("a beat of this replica failed", { error });
      throw error;
    }
  }

  #take(rows: readonly ReplicaRow[]): void {
    const before = this.#rows;
    this.#rows = new Map(rows.map((row) => [row.id, row]));
    for (const row of rows) if (row.id !== this.self && !before.has(row.id)) this.#parts.onCame(row);
    for (const row of before.values()) if (!this.#rows.has(row.id)) this.#parts.onGone(row);
    this.#parts.onChange();
    this.#removeSilent(rows);
  }

  /** Removes rows of replicas that died while nobody asked for them. */
  #removeSilent(rows: readonly ReplicaRow[]): void {
    const { clock } = this.#parts;
    const settledMs = clock.now() - (this.#settledAt ?? clock.now());
    for (const { id, silentMs } of rows)
      if (id !== this.self && isDead({ silentMs, refuses: false, settledMs }))
        void this.#remove(id, DEAD_MS).catch(() => {});
  }
}

/** Rows of the dead stay until somebody removes them. */
function isRecent({ silentMs }: ReplicaRow): boolean {
  return silentMs < DEAD_MS;
}
