/** The status of one server, for people and models. */
import type { MetaMcpError } from "./errors.ts";

export const CONNECTION_STATES = ["idle", "connecting", "active", "failed", "closed"] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

/** What can happen to a connection. "started": its process runs, or its address answers. */
export const CONNECTION_STEPS = ["connecting", "started", "connected", "failed", "closed"] as const;
export type ConnectionStep = (typeof CONNECTION_STEPS)[number];

export interface ServerStatus {
  /** The id of the server. */
  readonly name: string;
  /** One state for all its connections. */
  readonly state: ConnectionState;
  readonly connected: boolean;
  readonly criticality: "vital" | "optional";
  /** Why the server is down or slow. */
  readonly reason?: string | undefined;
  /** The circuit breaker admits no call for this time. */
  readonly retryAfterMs?: number;
  /** Number of running processes, if the server may have several. */
  readonly instances?: number;
  /** Why this caller cannot use the server, if each account needs its own credential. */
  readonly refusal?: MetaMcpError;
  /** The server cannot be used until the config is fixed. */
  readonly misconfigured?: boolean;
}
