/** The five states of a connection and the allowed transitions, as pure functions. */
import { MetaMcpError } from "../kernel/errors.ts";
import type { ConnectionState } from "../kernel/server-status.ts";

const MAY_GO_TO: Readonly<Record<ConnectionState, readonly ConnectionState[]>> = {
  idle: ["connecting", "active", "closed"],
  connecting: ["active", "failed", "closed"],
  active: ["idle", "failed", "closed"],
  failed: ["connecting", "closed"],
  closed: [],
};

/**
 * Returns `to`. Throws if the table does not allow the transition; a transition to the same state is not
 * allowed either.
 */
export function transition(from: ConnectionState, to: ConnectionState): ConnectionState {
  if (!MAY_GO_TO[from].includes(to)) {
    throw new MetaMcpError("internal", `A connection cannot go from ${from} to ${to}.`);
  }
  return to;
}

const SHOWN_FIRST = ["active", "connecting", "idle", "failed"] as const;

/** The state to show for a child with these connections. Closed connections do not count. */
export function shownState(states: readonly ConnectionState[]): ConnectionState {
  return SHOWN_FIRST.find((state) => states.includes(state)) ?? "idle";
}
