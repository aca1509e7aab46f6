/** Route for statistics of calls, with the current sessions and processes. */
import type { GatewayControl } from "../../gateway/control.ts";
import type { StatsBy, StatsPer, StatsRow } from "../../observe/live/stats.ts";
import type { Route } from "../route.ts";
import { ref } from "../schemas.ts";
import type { AdminParts } from "./parts.ts";

const PER = ["minute", "hour"] as const satisfies readonly StatsPer[];
const BY = ["endpoint", "server", "tool"] as const satisfies readonly StatsBy[];

export function statsRoute({ observed, sessions, control }: AdminParts): Route {
  return {
    method: "GET",
    path: "/stats",
    summary:
      "Read calls, errors, times and tokens saved, per minute of the last hour or per hour of the last two days",
    tag: "live",
    action: "stats.read",
    query: {
      per: { enum: PER, default: "minute" },
      by: { enum: BY, default: "endpoint", description: "what a row is about" },
    },
    answer: ref("Stats"),
    handle({ query }) {
      const per = (query.get("per") ?? "minute") as StatsPer;
      const by = (query.get("by") ?? "endpoint") as StatsBy;
      const figures = observed.stats.answer(per, by, Date.now());
      const clients = sessions.counts();
      const processes = processesByServer(control);
      const withNow = (row: StatsRow) => ({
        ...row,
        ...(by === "endpoint" && { sessions: clients.get(row.endpoint?.uuid ?? "") ?? 0 }),
        ...(by === "server" && { processes: processes.get(row.server?.uuid ?? "") ?? 0 }),
      });
      return {
        body: {
          ...figures,
          rows: figures.rows.map(withNow),
          sessions: sum(clients),
          processes: sum(processes),
          audit: observed.audit.state,
        },
      };
    },
  };
}

function processesByServer(control: GatewayControl): ReadonlyMap<string, number> {
  const running = [...control.compiled.servers.keys()].map((uuid) => {
    const { connected, instances = 1 } = control.statusOf(uuid);
    return [uuid, connected ? instances : 0] as const;
  });
  return new Map(running);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
