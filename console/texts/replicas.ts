/** Texts of the page Replicas, and of rows that name a replica. */
import { count, plural } from "../format.ts";

export const replicasTexts = {
  title: "Replicas",
  summary: (n: number, sessions: number, processes: number) =>
    `${plural(n, "replica serves", "replicas serve")} ${plural(sessions, "session")} with ${plural(processes, "process", "processes")} of servers.`,
  unshared:
    "These gateways use one store, but do not share sessions and limits. Start each with --replica-address.",
  list: "Replicas",
  search: "Search replicas",
  empty: {
    title: "This gateway is alone",
    text: "Gateways on one Postgres appear here. Start each with --replica-address, and they share sessions and limits.",
  },
  columns: {
    id: "Replica",
    state: "State",
    address: "Address",
    version: "Version",
    since: "Since",
    seen: "Last seen",
    sessions: "Sessions",
    processes: "Processes",
    forwarded: "Passed on",
    forwardedTitle: "Share of its requests in sessions that it passed on to another replica",
    lag: "Behind",
  },
  self: "this one",
  noAddress: "shares nothing",
  states: { serving: "serving", draining: "draining", silent: "silent" },
  silent: "it does not answer",
  lag: (n: number) => (n === 0 ? "–" : `${count(n)} rev.`),
  sessions: "Show its sessions",
  calls: "Show traffic",
  /** The head of a column, and a label. */
  replica: "Replica",
  absent: { silent: "does not answer", unknown: "does not answer this" },
  missing: (replicas: readonly string[]) =>
    `${replicas.length === 1 ? "Replica" : "Replicas"} ${replicas.join(", ")} ${replicas.length === 1 ? "does" : "do"} not answer. What only they know is missing on these pages.`,
} as const;
