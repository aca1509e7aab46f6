/** The sums of calls as they are shown: who called what, and when. */
import {
  COUNT,
  DATE,
  list,
  MS,
  named,
  object,
  type Static,
  TEXT,
  type Written,
} from "../../kernel/json-schema.ts";
import { ACTOR } from "../../kernel/principal.ts";
import { CALL, NAMED } from "../call-schema.ts";

/** How long a range is, and how it is divided. */
export const RANGES = ["1h", "24h", "7d", "30d"] as const;
export type Range = (typeof RANGES)[number];

const COUNTS = { calls: COUNT, errors: COUNT, refused: COUNT } as const;
const TIMES = { p50Ms: MS, p95Ms: MS } as const;
const WHO = {
  principal: ACTOR,
  key: object({ id: TEXT, name: TEXT }),
} as const;

const FLOW = object(COUNTS, { client: TEXT, endpoint: NAMED, namespace: NAMED, server: NAMED });
const TOOK = object(
  { calls: COUNT, buckets: { ...list(COUNT), description: "calls by duration, see `bounds`" } },
  { ...TIMES, server: NAMED, tool: TEXT, method: CALL.properties.method },
);
const CALLER = object(
  { ...COUNTS, requestBytes: COUNT, resultBytes: COUNT, lastAt: DATE },
  { ...WHO, clients: list(TEXT), series: { ...list(COUNT), description: "calls, as in `series`" } },
);

export const USAGE = named(
  "Usage",
  object({
    range: { enum: RANGES },
    per: { enum: ["minute", "hour", "day"], description: "the length of a step; days are those of UTC" },
    from: { ...DATE, description: "beginning of the first step" },
    to: { ...DATE, description: "when it was read" },
    since: { ...DATE, description: "when counting began; calls before it are missing" },
    totals: object(
      {
        ...COUNTS,
        requestBytes: COUNT,
        resultBytes: COUNT,
        tokensFull: { ...COUNT, description: "what lists of all tools would have cost" },
        tokensShown: { ...COUNT, description: "what was shown and searched instead" },
      },
      TIMES,
    ),
    series: {
      ...list(object({ at: DATE, ...COUNTS }, TIMES)),
      description: "one for each step, oldest first",
    },
    flows: { ...list(FLOW), description: "who called what, most calls first" },
    bounds: { ...list(MS), description: "upper bounds of the durations in `took`; the last part has none" },
    took: { ...list(TOOK), description: "durations by server, or by tool of one server; slowest first" },
    callers: { ...list(CALLER), description: "by person and key, most calls first" },
  }),
);
export type Usage = Written<Static<typeof USAGE>>;
export type CallerUsage = Usage["callers"][number];
