/** Who must give up a place, and when. Chooses only: the pool ends whom it names. Never names one that is in use. */
import type { PoolOptions } from "../config/spec.ts";
import type { Slot } from "./pool-slot.ts";

export interface PoolState {
  /** All slots in use, those that are ending included. */
  readonly slots: ReadonlySet<Slot>;
  readonly ending: number;
  readonly options: PoolOptions;
}

/** Who wants in. */
export interface Demand {
  readonly waiting: number;
  /** The first of them will get a reserve place, if nothing else before. */
  readonly reserveComes: boolean;
}

const keptAlive = (slot: Slot): boolean => slot.lifecycle?.mode === "keep-alive";

/** Bottom of the stack first: idle longest. Looked for when it is asked; calls that come and go only leave their mark. */
export function idleSlots({ slots }: PoolState): Slot[] {
  return [...slots].filter(({ phase }) => phase === "idle").sort((one, other) => one.turn - other.turn);
}

/** Those that are kept alive come last, each kind as it was. */
export function inOrderOfYielding(slots: readonly Slot[]): Slot[] {
  return [...slots.filter((slot) => !keptAlive(slot)), ...slots.filter(keptAlive)];
}

/** Whether more places will be in use than belong to the pool, even when all that are ending have ended. */
export function overfull(pool: PoolState): boolean {
  return pool.slots.size - pool.ending > pool.options.poolSize;
}

/**
 * Whether some place will, or may, be given up by itself: it ends; its connect may fail; its connection is one that
 * yields once it is idle. Of an overfull pool that is true of every busy one.
 */
function someMayYield(pool: PoolState): boolean {
  const all = overfull(pool);
  for (const slot of pool.slots) {
    if (slot.phase === "connecting" || slot.phase === "ending") return true;
    if (slot.phase === "busy" && (all || !keptAlive(slot))) return true;
  }
  return false;
}

/** Whether a connection that has just become idle ends at once. */
export function endsWhenIdle(slot: Slot, pool: PoolState): boolean {
  if (slot.lifecycle?.mode === "ephemeral") return true;
  return overfull(pool) && (!keptAlive(slot) || !someMayYield(pool));
}

/** The idle connection that must make room, or undefined if none need or may. Evictions under way are counted. */
export function evicted(pool: PoolState, demand: Demand): Slot | undefined {
  const { poolSize, minPoolSize } = pool.options;
  const live = pool.slots.size - pool.ending;
  if (live + demand.waiting <= poolSize) return undefined;
  // With nothing ending, a full pool that kept to its minimum would keep the caller out for ever.
  if (live <= minPoolSize && pool.ending > 0) return undefined;
  const [first] = inOrderOfYielding(idleSlots(pool));
  if (!first || !keptAlive(first)) return first;
  return demand.reserveComes || someMayYield(pool) ? undefined : first;
}

/** The next one the sweep ends, oldest first: idle for longer than it may be, while there are more than the minimum. */
export function overdue(pool: PoolState, now: number): Slot | undefined {
  const { idleTimeoutMs, minPoolSize } = pool.options;
  if (pool.slots.size - pool.ending <= minPoolSize) return undefined;
  return idleSlots(pool).find((slot) => {
    const limit =
      slot.lifecycle?.idleTimeoutMs ?? (keptAlive(slot) ? Number.POSITIVE_INFINITY : idleTimeoutMs);
    return now - slot.idleSince > limit;
  });
}
