/**
 * Layer `concurrency`: limits the calls in flight. Further calls wait in a queue of limited length, first come, first
 * served. If the configuration or the rights of the caller change meanwhile, a call whose turn it is starts again.
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

/** The calls of one key. */
interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
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
        next();
      } else {
        lane.running -= 1;
        if (lane.running === 0) lanes.delete(key);
      }
    };
    const isFull = ({ running, waiting }: Lane): boolean => running >= max && waiting.size >= queue;
    return {
      explain(call) {
        const lane = lanes.get(keyOf(call));
        return lane && isCounted(call) && isFull(lane)
          ? { effect: "limit", reason: `${lane.running} calls run already` }
          : undefined;
      },
      waits: queue > 0,
      gates: () => `at most ${max} at the same time`,
      call: (next) => (call) => {
        if (!isCounted(call)) return next(call);
        const key = keyOf(call);
        const lane: Lane = lanes.get(key) ?? { running: 0, waiting: new Set() };
        if (isFull(lane)) return Promise.reject(tooMany(call, RETRY_MS, "Too many calls at the same time"));
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
          turn(lane, waiting).then(() => run((waited) => ifCurrent(waited, next))),
        );
      },
    };
  },
};

/** Resolves when a slot is free for this call. A cancelled call leaves the queue. */
function turn({ waiting }: Lane, { signal }: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.delete(go);
      reject(signal.reason as Error);
    };
    const go = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    if (signal.aborted) return giveUp();
    waiting.add(go);
    signal.addEventListener("abort", giveUp);
  });
}
