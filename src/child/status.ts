/** What a child shows of itself: one state for all its connections, and why, where it is down or takes long. */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import type { Connection } from "./connection.ts";
import { whySlow } from "./download.ts";
import type { Health } from "./health.ts";
import { instancesOf } from "./instance.ts";
import { type ConnectionState, showOf } from "./machine.ts";

export interface ChildStatus {
  /** Its id. */
  readonly name: string;
  readonly state: ConnectionState;
  readonly connected: boolean;
  readonly criticality: "vital" | "optional";
  readonly reason?: string | undefined;
  /** It is left alone for so long. */
  readonly retryAfterMs?: number;
  /** How many of its processes run, where it may have several. */
  readonly instances?: number;
  /** Why this caller is not let in, where each account is let in as itself. */
  readonly refusal?: MetaMcpError;
}

/** From here on a person wants to know why it still lasts. */
const LONG_MS = 5_000;

export function statusOf(
  spec: ServerSpec,
  connections: readonly Connection[],
  health: Health,
  now: number,
): ChildStatus {
  const { criticality } = spec;
  const name = idOf(spec);
  const running = connections.filter((connection) => connection.connected).length;
  const connected = running > 0;
  const several = instancesOf(spec) > 1 ? { instances: running } : {};
  if (health.open) {
    const retryAfterMs = health.blockedFor(now);
    const seconds = Math.ceil(retryAfterMs / 1000);
    const when = seconds > 0 ? `next attempt allowed in ${seconds} s` : "the next call tries it again";
    return {
      name,
      criticality,
      connected,
      state: "failed",
      retryAfterMs,
      ...several,
      reason: `blocked after repeated failures: ${health.lastFailure}; ${when}`,
    };
  }
  const state = showOf(connections.map((connection) => connection.state));
  const reason = reasonOf(spec, state, connections, health);
  return { name, criticality, connected, state, reason, ...several };
}

/** Of the children that one server has: the first of active, connecting, idle, failed. */
export function joinedStatus(spec: ServerSpec, all: readonly ChildStatus[]): ChildStatus {
  const { criticality } = spec;
  const state = showOf(all.map((status) => status.state));
  return { name: idOf(spec), criticality, state, connected: all.some(({ connected }) => connected) };
}

function reasonOf(
  spec: ServerSpec,
  state: ConnectionState,
  connections: readonly Connection[],
  health: Health,
): string | undefined {
  if (state === "failed") return health.lastFailure;
  if (state !== "connecting") return undefined;
  const slow = connections.find((connection) => connection.state === "connecting")?.progress();
  if (!slow || slow.forMs < LONG_MS) return undefined;
  const why = whySlow(spec) ?? "it has not finished its handshake";
  const words = slow.lastWords ? `; its last output: ${slow.lastWords}` : "";
  return `starting for ${Math.round(slow.forMs / 1000)} s: ${why}${words}`;
}
