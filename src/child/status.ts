/**
 * The status of a child for people: one state for all its connections, and the reason if it failed or starts
 * slowly.
 */
import { idOf } from "../config/identity.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { ConnectionState, ServerStatus } from "../kernel/server-status.ts";
import type { StartPhase } from "./connect-limit.ts";
import type { Connection } from "./connection.ts";
import { mayInstall, whySlow } from "./download.ts";
import type { Health } from "./health.ts";
import { instancesOf } from "./instance.ts";
import { shownState } from "./machine.ts";

/** A connect that takes longer than this gets a reason. */
const SLOW_CONNECT_MS = 5_000;

export function statusOf(
  spec: ServerSpec,
  connections: readonly Connection[],
  health: Health,
  now: number,
): ServerStatus {
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
      reason: `blocked after repeated failures: ${health.lastFailureClause}; ${when}`,
    };
  }
  const state = shownState(connections.map((connection) => connection.state));
  const reason = reasonOf(spec, state, connections, health);
  return { name, criticality, connected, state, reason, ...several };
}

/** One status for all children of a server: the first state of active, connecting, idle, failed. */
export function joinedStatus(spec: ServerSpec, all: readonly ServerStatus[]): ServerStatus {
  const { criticality } = spec;
  const state = shownState(all.map((status) => status.state));
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
  const connecting = connections.find((connection) => connection.state === "connecting");
  const slow = connecting?.progress();
  if (!slow || slow.forMs < SLOW_CONNECT_MS) return undefined;
  const phase = connecting?.startPhase ?? "started";
  const words = slow.lastWords ? `; its last output: ${slow.lastWords}` : "";
  return `${PHASES[phase]} for ${Math.round(slow.forMs / 1000)} s: ${whyStarting(spec, phase)}${words}`;
}

const PHASES: Readonly<Record<StartPhase, string>> = {
  waiting: "waiting",
  installing: "still installing",
  started: "starting",
};

function whyStarting(spec: ServerSpec, phase: StartPhase): string {
  if (phase === "waiting") return "other servers are being installed";
  const unfinished = "it has not finished its handshake";
  return phase === "started" && mayInstall(spec) ? unfinished : (whySlow(spec) ?? unfinished);
}
