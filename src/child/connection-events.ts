/** Emits the events of one connection, from its first connect to its end. */
import type { Clock } from "../kernel/clock.ts";
import type { ConnectionChanged, Events } from "../kernel/events.ts";
import { ChildFailure } from "./link.ts";

export interface ConnectionEventParts {
  readonly events: Events | undefined;
  readonly clock: Clock;
  readonly server: string;
  /** The connection replaces one that was lost. */
  readonly restart: boolean;
}

/** What is known about the connection when it changes. */
export interface ConnectionFacts {
  /** Of the child's process, if it has one. */
  readonly pid?: number | undefined;
  /** Why the connection failed. */
  readonly failure?: Error | undefined;
}

export type ReportConnection = (state: ConnectionChanged["state"], facts?: ConnectionFacts) => void;

export function connectionReporter(parts: ConnectionEventParts): ReportConnection {
  const { events, clock, server, restart } = parts;
  let connectedAt: number | undefined;
  return (state, { pid, failure } = {}) => {
    if (!events?.hasListeners) return;
    if (state === "connected") connectedAt = clock.now();
    const ended = state === "closed" || state === "failed";
    // The duration is reported once, with the first event of the end.
    const lasted = ended && connectedAt !== undefined && { durationMs: clock.now() - connectedAt };
    if (ended) connectedAt = undefined;
    events.emit({
      type: "connection",
      at: Date.now(),
      server,
      state,
      ...(pid !== undefined && { pid }),
      ...(failure && { reason: failure.message }),
      ...(failure instanceof ChildFailure && failure.output !== undefined && { output: failure.output }),
      ...(failure instanceof ChildFailure && failure.category === "auth" && { login: true }),
      ...(restart && state === "connecting" && { restart }),
      ...lasted,
    });
  };
}
