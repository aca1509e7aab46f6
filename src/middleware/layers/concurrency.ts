/**
 * Layer `concurrency`: limits the calls in flight. Further calls wait in a queue of limited length, first
 * come, first served. No caller can keep the others out of a full queue: the last call of whoever has most
 * calls there gives way to a caller with fewer. If the configuration or the rights of the caller change
 * meanwhile, a call whose turn it is starts again.
 */
import type { Call, Handler } from "../../kernel/call.ts";
import type { Places } from "../../kernel/counts.ts";
import { LocalPlaces } from "../../kernel/local-places.ts";
import { shareOf } from "../../kernel/principal.ts";
import type { Raw } from "../../kernel/raw.ts";
import { COUNT_BY, type CountBy, countKey, isCounted, REQUIRED } from "../count-by.ts";
import type { LayerKind } from "../layer.ts";
import { ifCurrent } from "../permission.ts";
import { tooMany } from "../refusals.ts";

interface Options {
  readonly max: number;
  readonly queue: number;
  readonly by: CountBy | readonly CountBy[];
  readonly required?: boolean;
}

/** The time until a slot is free is unknown, so callers are told to retry after a second. */
const RETRY_MS = 1_000;

interface Waiter {
  readonly share: string;
  /** The slot is free. */
  go(): void;
  /** Another caller gets the place. */
  giveWay(): void;
}

/** The calls of one key. */
interface Lane {
  readonly places: Places;
  /** Calls that run, wait, or are about to. */
  calls: number;
  running: number;
  /** Ends the look-out for places that become free elsewhere. */
  unwatch?: (() => void) | undefined;
  /** In the order in which they came. */
  readonly waiting: Set<Waiter>;
}

export const concurrency: LayerKind = {
  summary: "Limit how many calls run at the same time.",
  schema: {
    properties: {
      max: { type: "integer", minimum: 1, description: "number of calls" },
      queue: {
        type: "integer",
        minimum: 0,
        default: 0,
        description: "number of further calls that may wait; all others are refused",
      },
      by: COUNT_BY,
      required: REQUIRED,
    },
    required: ["max"],
  },
  compile(options, { shared }) {
    const { max, queue, by, required } = options as unknown as Options;
    const keyOf = countKey(by);
    const most = (): number => max;
    const newLane = (key: string): Lane => ({
      places: shared?.counts.places(`${shared.place} ${key}`, { most, required }) ?? new LocalPlaces(most),
      calls: 0,
      running: 0,
      waiting: new Set(),
    });
    // Unused lanes are deleted, so there are at most as many lanes as calls.
    const lanes = new Map<string, Lane>();
    const gone = (key: string, lane: Lane): void => {
      if (lane.waiting.size === 0) {
        lane.unwatch?.();
        lane.unwatch = undefined;
      }
      lane.calls -= 1;
      if (lane.calls > 0) return;
      lanes.delete(key);
      lane.places.release?.();
    };
    const isFull = ({ places, waiting }: Lane): boolean => places.full() && waiting.size >= queue;
    const refusal = (call: Call): Error => tooMany(call, RETRY_MS, "Too many calls at the same time");
    const run = (call: Call, key: string, lane: Lane, next: Handler): Promise<Raw> => {
      const left = (): void => {
        lane.running -= 1;
        lane.places.leave();
        startWaiting(lane);
        gone(key, lane);
      };
      const inside = next(call);
      inside.then(left, left);
      return inside;
    };
    const enter = (call: Call, key: string, lane: Lane, next: Handler): Promise<Raw> => {
      if (!lane.places.full()) {
        lane.places.enter();
        lane.running += 1;
        return run(call, key, lane, next);
      }
      if (lane.waiting.size >= queue) {
        const other = whoGivesWay(lane, call);
        if (!other) {
          gone(key, lane);
          return Promise.reject(refusal(call));
        }
        other.giveWay();
      }
      let began = false;
      const waited = ifCurrent(call, (waiting) => {
        const turned = turn(lane, waiting, () => refusal(call));
        lane.unwatch ??= lane.places.watch?.(
          () => startWaiting(lane),
          () => lane.waiting.size,
        );
        return turned.then(() => {
          began = true;
          return run(call, key, lane, (current) => ifCurrent(current, next));
        });
      });
      return waited.catch((error: unknown) => {
        if (!began) gone(key, lane);
        throw error;
      });
    };
    return {
      explain(call) {
        const lane = lanes.get(keyOf(call));
        return lane && isCounted(call) && isFull(lane) && !whoGivesWay(lane, call)
          ? { effect: "limit", reason: `${lane.running} calls run already` }
          : undefined;
      },
      waits: queue > 0 || shared !== undefined,
      gates: () => `at most ${max} at the same time`,
      call: (next) => (call) => {
        if (!isCounted(call)) return next(call);
        const key = keyOf(call);
        let lane = lanes.get(key);
        if (!lane) {
          lane = newLane(key);
          lanes.set(key, lane);
        }
        const entered = lane;
        lane.calls += 1;
        const asked = lane.waiting.size === 0 ? lane.places.ready?.() : undefined;
        if (!asked) return enter(call, key, lane, next);
        return asked
          .then(() => {
            if (call.signal.aborted) throw call.signal.reason;
            if (call.permissions?.isCurrent() === false) throw call.permissions.startAgain();
          })
          .then(
            () => enter(call, key, entered, next),
            (error: unknown) => {
              gone(key, entered);
              throw error;
            },
          );
      },
    };
  },
};

/** Calls that wait have their turn in order, as long as there are places. */
function startWaiting(lane: Lane): void {
  for (const next of lane.waiting) {
    if (lane.places.full()) return;
    lane.places.enter();
    lane.running += 1;
    lane.waiting.delete(next);
    next.go();
  }
}

/**
 * The call that leaves the full queue for this one: the last of the caller with most calls there, if this
 * caller has fewer even with this call.
 */
function whoGivesWay({ waiting }: Lane, { origin }: Call): Waiter | undefined {
  const last = new Map<string, { readonly waiter: Waiter; readonly count: number }>();
  for (const waiter of waiting)
    last.set(waiter.share, { waiter, count: (last.get(waiter.share)?.count ?? 0) + 1 });
  const own = last.get(shareOf(origin.principal))?.count ?? 0;
  let most: { readonly waiter: Waiter; readonly count: number } | undefined;
  for (const one of last.values()) if (one.count > (most?.count ?? own + 1)) most = one;
  return most?.waiter;
}

/** Resolves when a slot is free for this call. A cancelled call leaves the queue. */
function turn({ waiting }: Lane, { signal, origin }: Call, refusal: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (reason: Error): void => {
      waiting.delete(waiter);
      signal.removeEventListener("abort", giveUp);
      reject(reason);
    };
    const giveUp = (): void => leave(signal.reason as Error);
    const waiter: Waiter = {
      share: shareOf(origin.principal),
      go() {
        signal.removeEventListener("abort", giveUp);
        resolve();
      },
      giveWay: () => leave(refusal()),
    };
    if (signal.aborted) return giveUp();
    waiting.add(waiter);
    signal.addEventListener("abort", giveUp);
  });
}
