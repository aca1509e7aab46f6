/**
 * Layer `concurrency`: limits the calls in flight. Further calls wait in a queue of limited length, first come, first
 * served. No caller can keep the others out of a full queue: the last call of whoever has most calls there gives way to a
 * caller with fewer. If the configuration or the rights of the caller change meanwhile, a call whose turn it is starts again.
 */
import type { Call, Handler } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { COUNT_BY, type CountBy, countKey, isCounted } from "../count-by.ts";
import type { LayerKind } from "../layer.ts";
import { ifCurrent } from "../permission.ts";
import { tooMany } from "../refusals.ts";

interface Options {
  readonly max: number;
  readonly queue: number;
  readonly by: CountBy | readonly CountBy[];
}

/** The time until a slot is free is unknown, so callers are told to retry after a second. */
const RETRY_MS = 1_000;

interface Waiter {
  readonly principal: string;
  /** The slot is free. */
  go(): void;
  /** Another caller gets the place. */
  giveWay(): void;
}

/** The calls of one key. */
interface Lane {
  running: number;
  /** In the order in which they came. */
  readonly waiting: Set<Waiter>;
}

export const concurrency: LayerKind = {
  summary: "Limit how many calls run at the same time.",
  schema: {
    properties: {
      max: { type: "integer", minimum: 1 },
      queue: { type: "integer", minimum: 0, default: 0 },
      by: COUNT_BY,
    },
    required: ["max"],
  },
  compile(options) {
    const { max, queue, by } = options as unknown as Options;
    const keyOf = countKey(by);
    // Empty lanes are deleted, so there are at most as many lanes as calls.
    const lanes = new Map<string, Lane>();
    const leave = (key: string, lane: Lane): void => {
      const [next] = lane.waiting;
      if (next) {
        lane.waiting.delete(next);
        next.go();
      } else {
        lane.running -= 1;
        if (lane.running === 0) lanes.delete(key);
      }
    };
    const isFull = ({ running, waiting }: Lane): boolean => running >= max && waiting.size >= queue;
    const refusal = (call: Call): Error => tooMany(call, RETRY_MS, "Too many calls at the same time");
    return {
      explain(call) {
        const lane = lanes.get(keyOf(call));
        return lane && isCounted(call) && isFull(lane) && !whoGivesWay(lane, call)
          ? { effect: "limit", reason: `${lane.running} calls run already` }
          : undefined;
      },
      waits: queue > 0,
      gates: () => `at most ${max} at the same time`,
      call: (next) => (call) => {
        if (!isCounted(call)) return next(call);
        const key = keyOf(call);
        const lane: Lane = lanes.get(key) ?? { running: 0, waiting: new Set() };
        if (isFull(lane)) {
          const other = whoGivesWay(lane, call);
          if (!other) return Promise.reject(refusal(call));
          other.giveWay();
        }
        lanes.set(key, lane);
        const left = (): void => leave(key, lane);
        const run = (inner: Handler): Promise<Raw> => {
          const inside = inner(call);
          inside.then(left, left);
          return inside;
        };
        if (lane.running < max) {
          lane.running += 1;
          return run(next);
        }
        return ifCurrent(call, (waiting) =>
          turn(lane, waiting, () => refusal(call)).then(() => run((waited) => ifCurrent(waited, next))),
        );
      },
    };
  },
};

/** The call that leaves the full queue for this one: the last of the caller with most calls there, if this caller has fewer even with this call. */
function whoGivesWay({ waiting }: Lane, { origin }: Call): Waiter | undefined {
  const last = new Map<string, { readonly waiter: Waiter; readonly count: number }>();
  for (const waiter of waiting)
    last.set(waiter.principal, { waiter, count: (last.get(waiter.principal)?.count ?? 0) + 1 });
  const own = last.get(origin.principal.id)?.count ?? 0;
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
      principal: origin.principal.id,
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
