/** What a child shows of itself: one state for all its connections, and why, where it is down or takes long. */
import type { ServerSpec } from "../config/spec.ts";
import type { Connection } from "./connection.ts";
import { whySlow } from "./download.ts";
import type { Health } from "./health.ts";
import { type ConnectionState, showOf } from "./machine.ts";

export interface ChildStatus {
  readonly name: string;
  readonly state: ConnectionState;
  readonly connected: boolean;
  readonly criticality: "vital" | "optional";
  readonly reason?: string | undefined;
  /** It is left alone for so long. */
  readonly retryAfterMs?: number;
}

/** From here on a person wants to know why it still lasts. */
const LONG_MS = 5_000;

export function statusOf(
  spec: ServerSpec,
  connections: readonly Connection[],
  health: Health,
  now: number,
): ChildStatus {
  const { name, criticality } = spec;
  const connected = connections.some((connection) => connection.connected);
  if (health.open) {
    const retryAfterMs = health.fencedFor(now);
    const seconds = Math.ceil(retryAfterMs / 1000);
    const when = seconds > 0 ? `the next try is let through in ${seconds} s` : "the next call is let through";
    return {
      name,
      criticality,
      connected,
      state: "failed",
      retryAfterMs,
      reason: `fenced off after repeated failures: ${health.lastFailure}; ${when}`,
    };
  }
  const state = showOf(connections.map((connection) => connection.state));
  return { name, criticality, connected, state, reason: reasonOf(spec, state, connections, health) };
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
  const words = slow.lastWords ? `; it last said: ${slow.lastWords}` : "";
  return `starting for ${Math.round(slow.forMs / 1000)} s: ${why}${words}`;
}
