/** Layer `rate-limit`: limits calls per time, here or over all replicas. */
import type { Call } from "../../kernel/call.ts";
import type { Rate, RateTerms } from "../../kernel/counts.ts";
import { LocalRate } from "../../kernel/local-rate.ts";
import { COUNT_BY, type CountBy, countKey, isCounted, REQUIRED } from "../count-by.ts";
import type { Explanation, LayerKind, Limit } from "../layer.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

interface Options {
  readonly requests: number;
  readonly per: unknown;
  readonly burst?: number;
  readonly by: CountBy | readonly CountBy[];
  readonly required?: boolean;
}

export const rateLimit: LayerKind = {
  summary: "Limit how many calls are made in a period of time.",
  schema: {
    properties: {
      requests: { type: "integer", minimum: 1, description: "number of calls" },
      per: TIME,
      burst: { type: "integer", minimum: 1, description: "calls that may come at once; default: requests" },
      by: COUNT_BY,
      required: REQUIRED,
    },
    required: ["requests", "per"],
  },
  check: (options) => timeProblems(options, ["per"]),
  compile(options, { clock, shared }) {
    const { requests, per, burst = requests, by, required } = options as unknown as Options;
    const terms: RateTerms = { burst, intervalMs: msOf(per) / requests, required };
    const rate: Rate = shared?.counts.rate(shared.place, terms) ?? new LocalRate(terms, clock);
    const limit = limitOf(rate, countKey(by));
    const text = `${requests} calls per ${String(per)}${typeof per === "number" ? " ms" : ""}`;
    return {
      limit,
      waits: rate.ready !== undefined,
      gates: () => `limited to ${text}`,
      explain: (call) => {
        const said = (): Explanation | undefined => {
          const wait = limit.wait(call);
          return wait > 0
            ? { effect: "limit", reason: `over ${text}: retry after ${Math.ceil(wait)} ms` }
            : undefined;
        };
        return limit.ready?.(call)?.then(said) ?? said();
      },
    };
  },
};

function limitOf(rate: Rate, keyOf: (call: Call) => string): Limit {
  const ready = rate.ready?.bind(rate);
  return {
    ...(ready && { ready: (call) => (isCounted(call) ? ready(keyOf(call)) : undefined) }),
    wait: (call) => (isCounted(call) ? rate.wait(keyOf(call)) : 0),
    take: (call) => (isCounted(call) ? rate.take(keyOf(call)) : undefined),
    giveBack(call, taken) {
      if (isCounted(call)) rate.giveBack(keyOf(call), taken);
    },
  };
}
