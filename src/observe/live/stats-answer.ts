/** Statistics of calls as they are shown. */
import { COUNT, DATE, list, MS, object, type Static, TEXT, type Written } from "../../kernel/json-schema.ts";
import { CALL, NAMED } from "../call-schema.ts";

export const STATS_PER = ["minute", "hour"] as const;
export type StatsPer = (typeof STATS_PER)[number];
export const STATS_BY = ["endpoint", "server", "tool"] as const;
export type StatsBy = (typeof STATS_BY)[number];

const COUNTS = { calls: COUNT, errors: COUNT, refused: COUNT } as const;
const TIMES = { p50Ms: MS, p95Ms: MS } as const;
const FIGURES = object(COUNTS, TIMES);
export type Figures = Static<typeof FIGURES>;

const SAVED = {
  tokensSaved: {
    type: "integer",
    description: "cost of the full lists, minus what was shown and searched",
  },
} as const;

export const STATS_ROW = object(COUNTS, {
  ...TIMES,
  endpoint: NAMED,
  server: NAMED,
  tool: { ...TEXT, description: "prompts and resources of a server count as one row" },
  method: CALL.properties.method,
  ...SAVED,
});
export type StatsRow = Written<Static<typeof STATS_ROW>>;

export const STATS = object({
  per: { enum: STATS_PER },
  totals: object({ ...COUNTS, ...SAVED }, TIMES),
  series: {
    ...list(object({ at: DATE, ...COUNTS, ...SAVED }, TIMES)),
    description: "oldest first",
  },
  rows: { ...list(STATS_ROW), description: "most called first" },
});
export type StatsAnswer = Written<Static<typeof STATS>>;
