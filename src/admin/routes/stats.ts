/** Route for statistics of calls, with the current sessions and processes. */

import { STATS_BY, STATS_PER, type StatsRow } from "../../observe/live/stats-answer.ts";
import { statsAnswer } from "../../observe/live/stats-figures.ts";
import type { Load } from "../facts.ts";
import { gather, type Whole } from "../gather.ts";
import { SHOWN_STATS } from "../observe-schemas.ts";
import { route } from "../route.ts";

import type { AdminParts } from "./parts.ts";

export function statsRoute(parts: AdminParts) {
  return route({
    method: "GET",
    path: "/stats",
    summary:
      "Read calls, errors, times and tokens saved, per minute of the last hour or per hour of the last two days",
    tag: "live",
    action: "stats.read",
    query: {
      per: { enum: STATS_PER, default: "minute" },
      by: { enum: STATS_BY, default: "endpoint", description: "what a row is about" },
    },
    answer: SHOWN_STATS,
    async handle({ query: { per, by } }) {
      const [figures, load] = await Promise.all([
        gather(parts, "stats", { per, by }),
        gather(parts, "load", {}),
      ]);
      const [first, ...rest] = figures.parts;
      const answer = statsAnswer([first.value, ...rest.map(({ value }) => value)]);
      const { sessions, processes, audit } = wholeLoad(load);
      const withNow = (row: StatsRow) => ({
        ...row,
        ...(by === "endpoint" && { sessions: sessions.get(row.endpoint?.uuid ?? "") ?? 0 }),
        ...(by === "server" && { processes: processes.get(row.server?.uuid ?? "") ?? 0 }),
      });
      return {
        body: {
          ...answer,
          rows: answer.rows.map(withNow),
          sessions: sum(sessions),
          processes: sum(processes),
          audit,
          ...figures.missing,
        },
      };
    },
  });
}

/** What runs at all replicas. */
export function wholeLoad({ parts }: Whole<Load>) {
  const loads = parts.map(({ value }) => value);
  const fault = loads.find(({ audit }) => audit.fault !== undefined)?.audit.fault;
  return {
    sessions: added(loads.map(({ sessions }) => sessions)),
    processes: added(loads.map(({ processes }) => processes)),
    audit: {
      queued: loads.reduce((total, { audit }) => total + audit.queued, 0),
      lost: loads.reduce((total, { audit }) => total + audit.lost, 0),
      ...(fault !== undefined && { fault }),
    },
  };
}

function added(all: readonly Readonly<Record<string, number>>[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>();
  for (const one of all)
    for (const [name, count] of Object.entries(one)) total.set(name, (total.get(name) ?? 0) + count);
  return total;
}

export function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
