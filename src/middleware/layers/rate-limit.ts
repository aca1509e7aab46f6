/** Layer `rate-limit`: limits calls per time with GCRA. For each key it keeps one number: the time at which all counted calls are earned back. */
import type { Call } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { COUNT_BY, type CountBy, countKey, isCounted } from "../count-by.ts";
import type { LayerKind, Limit } from "../layer.ts";
import { Lru } from "../lru.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

interface Options {
  readonly requests: number;
  readonly per: unknown;
  readonly burst?: number;
  readonly by: CountBy | readonly CountBy[];
}

/** Maximum number of keys; a key takes about 100 bytes. */
const MAX_KEYS = 100_000;
/** Tolerance for rounding errors of added fractions. */
const ROUNDING_MS = 1e-6;

export const rateLimit: LayerKind = {
  summary: "Limit how many calls are made in a period of time.",
  schema: {
    properties: {
      requests: { type: "integer", minimum: 1 },
      per: TIME,
      burst: { type: "integer", minimum: 1 },
      by: COUNT_BY,
    },
    required: ["requests", "per"],
  },
  check: (options) => timeProblems(options, ["per"]),
  compile(options, { clock }) {
    const { requests, per, burst = requests, by } = options as unknown as Options;
    const limit = gcra({ intervalMs: msOf(per) / requests, burst, keyOf: countKey(by), clock });
    const text = `${requests} calls per ${String(per)}${typeof per === "number" ? " ms" : ""}`;
    return {
      limit,
      gates: () => `limited to ${text}`,
      explain: (call) => {
        const wait = limit.wait(call);
        return wait > 0
          ? { effect: "limit", reason: `over ${text}: retry after ${Math.ceil(wait)} ms` }
          : undefined;
      },
    };
  },
};

interface Gcra {
  readonly intervalMs: number;
  readonly burst: number;
  readonly keyOf: (call: Call) => string;
  readonly clock: Clock;
}

export function gcra({ intervalMs, burst, keyOf, clock }: Gcra): Limit {
  const earnedAt = new Lru<string, number>(MAX_KEYS);
  const tolerance = intervalMs * burst;
  const next = (key: string, now: number): number => Math.max(earnedAt.peek(key) ?? 0, now) + intervalMs;
  return {
    wait(call) {
      if (!isCounted(call)) return 0;
      const now = clock.now();
      const wait = next(keyOf(call), now) - tolerance - now;
      return wait > ROUNDING_MS ? wait : 0;
    },
    take(call) {
      if (!isCounted(call)) return;
      const key = keyOf(call);
      earnedAt.set(key, next(key, clock.now()));
    },
    giveBack(call) {
      const key = keyOf(call);
      const at = earnedAt.peek(key);
      if (at !== undefined && isCounted(call)) earnedAt.set(key, at - intervalMs);
    },
  };
}
