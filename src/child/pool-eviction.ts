/**
 * Chooses which idle connection must end to free its slot, and when. It never chooses one that is in use; the
 * pool ends it.
 */
import type { PoolOptions } from "../config/spec.ts";
import type { Slot } from "./pool-slot.ts";

export interface PoolState {
  /** All slots that are not free, including those whose connection is ending. */
  readonly slots: ReadonlySet<Slot>;
  /** Number of slots whose connection is ending. */
  readonly ending: number;
  readonly options: PoolOptions;
}

export interface Demand {
  /** Number of callers that wait for a slot. */
  readonly waiting: number;
  /** The first of them will get a reserve slot before its timeout. */
  readonly reserveComes: boolean;
}

const keptAlive = (slot: Slot): boolean => slot.lifecycle?.mode === "keep-alive";

/**
 * The idle slots, idle for longest first. Computed on demand: calls only set `phase` and `turn`, so that they
 * stay cheap.
 */
export function idleSlots({ slots }: PoolState): Slot[] {
  return [...slots].filter(({ phase }) => phase === "idle").sort((one, other) => one.turn - other.turn);
}

/** Moves keep-alive connections to the end and keeps the order otherwise. */
export function inEvictionOrder(slots: readonly Slot[]): Slot[] {
  return [...slots.filter((slot) => !keptAlive(slot)), ...slots.filter(keptAlive)];
}

/** Whether more than `poolSize` slots are in use, not counting those that are ending. */
export function overfull(pool: PoolState): boolean {
  return pool.slots.size - pool.ending > pool.options.poolSize;
}

/**
 * Whether some slot will or may become free without evicting a keep-alive connection: its connection is
 * ending, its connect may fail, or its busy connection is not keep-alive. In an overfull pool every busy
 * connection counts.
 */
function mayBecomeFree(pool: PoolState): boolean {
  const all = overfull(pool);
  for (const slot of pool.slots) {
    if (slot.phase === "connecting" || slot.phase === "ending") return true;
    if (slot.phase === "busy" && (all || !keptAlive(slot))) return true;
  }
  return false;
}

/** Whether a connection that has just become idle must end at once. */
export function endsWhenIdle(slot: Slot, pool: PoolState): boolean {
  if (slot.lifecycle?.mode === "ephemeral") return true;
  return overfull(pool) && (!keptAlive(slot) || !mayBecomeFree(pool));
}

/**
 * The slot whose idle connection must end for a waiter; undefined if none must or may. Evictions in progress
 * are counted.
 */
export function slotToEvict(pool: PoolState, demand: Demand): Slot | undefined {
  const { poolSize, minPoolSize } = pool.options;
  const live = pool.slots.size - pool.ending;
  if (live + demand.waiting <= poolSize) return undefined;
  // If nothing is ending, the minimum is ignored: otherwise the waiter of a full pool would wait for ever.
  if (live <= minPoolSize && pool.ending > 0) return undefined;
  const [first] = inEvictionOrder(idleSlots(pool));
  if (!first || !keptAlive(first)) return first;
  return demand.reserveComes || mayBecomeFree(pool) ? undefined : first;
}

/**
 * The next slot that the sweep ends, oldest first: idle for longer than allowed, while there are more than
 * the minimum.
 */
export function slotToSweep(pool: PoolState, now: number): Slot | undefined {
  const { idleTimeoutMs, minPoolSize } = pool.options;
  if (pool.slots.size - pool.ending <= minPoolSize) return undefined;
  return idleSlots(pool).find((slot) => {
    const limit =
      slot.lifecycle?.idleTimeoutMs ?? (keptAlive(slot) ? Number.POSITIVE_INFINITY : idleTimeoutMs);
    return now - slot.idleSince > limit;
  });
}
