/** Who must give up a place, and when. Chooses only: the pool ends whom it names. Never names one that is in use. */
import type { Lifecycle, PoolOptions } from "../config/spec.ts";

/** One place in use, as far as giving it up goes. */
export interface Seat {
  phase: "connecting" | "busy" | "idle" | "ending" | "free";
  /** Known once a connection is there; another config may change it. */
  readonly lifecycle: Lifecycle | undefined;
  idleSince: number;
  /** Counts up each time one becomes idle: the lowest has been so longest. */
  turn: number;
}

/** Who sits where. Generic, so that the pool gets back the very seats it gave. */
export interface PoolRoom<S extends Seat> {
  /** All places in use, those that are ending included. */
  readonly seats: ReadonlySet<S>;
  readonly ending: number;
  readonly options: PoolOptions;
}

/** Who wants in. */
export interface Demand {
  readonly waiting: number;
  /** The first of them will get a reserve place, if nothing else before. */
  readonly reserveComes: boolean;
}

const keptAlive = (seat: Seat): boolean => seat.lifecycle?.mode === "keep-alive";

/** Bottom of the stack first: idle longest. Looked for when it is asked; calls that come and go only leave their mark. */
export function idleSeats<S extends Seat>({ seats }: Pick<PoolRoom<S>, "seats">): S[] {
  return [...seats].filter(({ phase }) => phase === "idle").sort((one, other) => one.turn - other.turn);
}

/** Those that are kept alive come last, each kind as it was. */
export function inOrderOfYielding<S extends Seat>(seats: readonly S[]): S[] {
  return [...seats.filter((seat) => !keptAlive(seat)), ...seats.filter(keptAlive)];
}

/** Whether more places will be in use than belong to the pool, even when all that are ending have ended. */
export function overfull(room: PoolRoom<Seat>): boolean {
  return room.seats.size - room.ending > room.options.poolSize;
}

/**
 * Whether some place will, or may, be given up by itself: it ends; its connect may fail; its connection is one that
 * yields once it is idle. Of an overfull pool that is true of every busy one.
 */
function someMayYield(room: PoolRoom<Seat>): boolean {
  const all = overfull(room);
  for (const seat of room.seats) {
    if (seat.phase === "connecting" || seat.phase === "ending") return true;
    if (seat.phase === "busy" && (all || !keptAlive(seat))) return true;
  }
  return false;
}

/** Whether a connection that has just become idle ends at once. */
export function endsWhenIdle(seat: Seat, room: PoolRoom<Seat>): boolean {
  if (seat.lifecycle?.mode === "ephemeral") return true;
  return overfull(room) && (!keptAlive(seat) || !someMayYield(room));
}

/** The idle connection that must make room, or undefined if none need or may. Evictions under way are counted. */
export function evicted<S extends Seat>(room: PoolRoom<S>, demand: Demand): S | undefined {
  const { poolSize, minPoolSize } = room.options;
  const live = room.seats.size - room.ending;
  if (live + demand.waiting <= poolSize) return undefined;
  // With nothing ending, a full pool that kept to its minimum would keep the caller out for ever.
  if (live <= minPoolSize && room.ending > 0) return undefined;
  const [first] = inOrderOfYielding(idleSeats(room));
  if (!first || !keptAlive(first)) return first;
  return demand.reserveComes || someMayYield(room) ? undefined : first;
}

/** The next one the sweep ends, oldest first: idle for longer than it may be, while there are more than the minimum. */
export function overdue<S extends Seat>(room: PoolRoom<S>, now: number): S | undefined {
  const { idleTimeoutMs, minPoolSize } = room.options;
  if (room.seats.size - room.ending <= minPoolSize) return undefined;
  return idleSeats(room).find((seat) => {
    const limit =
      seat.lifecycle?.idleTimeoutMs ?? (keptAlive(seat) ? Number.POSITIVE_INFINITY : idleTimeoutMs);
    return now - seat.idleSince > limit;
  });
}
