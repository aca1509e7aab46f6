/** The five states of one connection. A value and its table: keeps no connection, and knows no other way between them. */
import { MetaMcpError } from "../kernel/errors.ts";

export type ConnectionState = "idle" | "connecting" | "active" | "failed" | "closed";

const MAY_GO_TO: Readonly<Record<ConnectionState, readonly ConnectionState[]>> = {
  idle: ["connecting", "active", "closed"],
  connecting: ["active", "failed", "closed"],
  active: ["idle", "failed", "closed"],
  failed: ["connecting", "closed"],
  closed: [],
};

/** Returns `to`. Throws on every transition the table does not have, staying where one is included. */
export function transition(from: ConnectionState, to: ConnectionState): ConnectionState {
  if (!MAY_GO_TO[from].includes(to)) {
    throw new MetaMcpError("internal", `A connection cannot go from ${from} to ${to}.`);
  }
  return to;
}

const SHOWN_FIRST = ["active", "connecting", "idle", "failed"] as const;

/** What a child with these connections shows. Closed ones are gone and say nothing. */
export function showOf(states: readonly ConnectionState[]): ConnectionState {
  return SHOWN_FIRST.find((state) => states.includes(state)) ?? "idle";
}
