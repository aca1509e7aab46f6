/** The state of a server at all replicas, in one. Pure. */
import type { ConnectionStatus } from "../gateway/control.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Whole } from "./gather.ts";
import { processesOf } from "./process-count.ts";
import type { Missing, ServerStatus } from "./replica-schemas.ts";
import { shownTo } from "./server-output.ts";

/** A state at a replica; undefined where this gateway shares nothing. */
export interface ReplicaConnection {
  readonly replica?: string | undefined;
  readonly status: ConnectionStatus;
}

/** Best first. A failure of before the start says less than one of now. */
const STATES = ["disabled", "active", "idle", "connecting", "failed", "failed before", "closed"] as const;

/** The states of one server, by replica. One that does not know the server has none. */
export function connectionsOf(
  { parts }: Whole<Readonly<Record<string, ConnectionStatus>>>,
  server: string,
): readonly ReplicaConnection[] {
  return parts.flatMap(({ replica, value }) => {
    const status = value[server];
    return status ? [{ replica, status }] : [];
  });
}

/** `all` has the state at this replica first. */
export function wholeStatus(
  principal: Principal,
  all: readonly ReplicaConnection[],
  missing: Missing = [],
): ServerStatus {
  const rows = all.map(({ replica, status }) => ({ replica, status: shownTo(principal, status) }));
  const [best] = rows.toSorted((a, b) => rankOf(a.status) - rankOf(b.status));
  const status = best?.status ?? { state: "closed", connected: false, toolCount: 0 };
  if (best?.replica === undefined) return status;
  return {
    ...status,
    toolCount: Math.max(...rows.map((row) => row.status.toolCount)),
    instances: all.reduce((sum, row) => sum + processesOf(row.status), 0),
    replicas: [
      ...rows.map((row) => ({ replica: row.replica ?? "", ...row.status })),
      ...missing.map(({ replica, why }) => ({ replica, missing: why })),
    ],
  };
}

function rankOf({ state, lastFailure }: Pick<ConnectionStatus, "state" | "lastFailure">): number {
  return STATES.indexOf(lastFailure ? "failed before" : state);
}
