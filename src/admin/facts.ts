/**
 * What one replica knows by itself, and what only it can do. Other replicas ask for it by these names, so
 * everything is JSON. They may be of another version: if the form of an answer changes, its name does too.
 */
import type { ConnectionStatus } from "../gateway/control.ts";
import type { AuditState } from "../observe/audit/audit-log.ts";
import type { StatsBy, StatsPer } from "../observe/live/stats-answer.ts";
import { type CallQuestion, ownCalls } from "./call-list.ts";
import { isStarted, processesOf } from "./process-count.ts";
import type { AdminParts } from "./routes/parts.ts";

interface OfServer {
  readonly server: string;
}

/** What runs now. */
export interface Load {
  /** Connected clients, by uuid of the endpoint. */
  readonly sessions: Readonly<Record<string, number>>;
  /** Connections to servers, by uuid of the server. */
  readonly processes: Readonly<Record<string, number>>;
  readonly audit: AuditState;
}

export const FACTS = {
  sessions: ({ sessions }: AdminParts) => sessions.list(),
  /** Whether this replica had the session. */
  "end-session": ({ sessions }: AdminParts, { id }: { readonly id: string }) => sessions.end(id),
  calls: (parts: AdminParts, asked: CallQuestion) => ownCalls(parts, asked),
  stats: ({ observed }: AdminParts, { per, by }: { readonly per: StatsPer; readonly by: StatsBy }) =>
    observed.stats.figures(per, by, Date.now()),
  /** Sums of calls wait here for a few seconds. Resolves when the store has them. */
  "write-sums": async ({ observed }: AdminParts) => {
    await observed.sums.flush();
    return {};
  },
  load: (parts: AdminParts): Load => ({
    sessions: Object.fromEntries(parts.sessions.counts()),
    processes: mapped(connections(parts), processesOf),
    audit: parts.observed.audit.state,
  }),
  "tool-use": ({ observed }: AdminParts) => ({ since: observed.use.since, used: observed.use.all() }),
  connections,
  /** Starts it anew if it runs here. */
  async connect({ control }: AdminParts, { server }: OfServer): Promise<ConnectionStatus> {
    const status = control.statusOf(server);
    return isStarted(status) ? await control.connect(server) : status;
  },
  history: ({ control }: AdminParts, { server }: OfServer) => control.historyOf(server),
  logs: ({ control }: AdminParts, { server }: OfServer) => control.logsOf(server),
} as const;
export type Facts = typeof FACTS;

type Connections = Readonly<Record<string, ConnectionStatus>>;

/** The states of these servers, by uuid; of all without a list. */
function connections(
  { control }: AdminParts,
  { servers = [...control.compiled.servers.keys()] }: { readonly servers?: readonly string[] } = {},
): Connections {
  return Object.fromEntries(servers.map((uuid) => [uuid, control.statusOf(uuid)]));
}

function mapped(
  all: Connections,
  of: (status: ConnectionStatus) => number,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(all).map(([uuid, status]) => [uuid, of(status)]));
}
