/**
 * The retry rule as pure functions: whether a server is restarted after a crash, whether a call is sent
 * again, and whether the retries recovered from the crash. It starts and sends nothing. Nothing else leads to
 * a second attempt.
 *
 * When a connection is lost under calls, call `grantsRespawn` once, `mayRepeat` for each call, `crashed` once
 * and `pendingCrash` once. When the outcome of a call is known, call `settleCall`. If calls learn of the same
 * crash one by one, call `addCall` for each call after the first.
 */
import type { ServerSpec } from "../config/spec.ts";
import type { Repeat } from "../kernel/call.ts";

/** The recent crashes of one server. */
export interface CrashHistory {
  readonly restarts: number;
  readonly lastCrash: number;
}

export const noCrashes: CrashHistory = { restarts: 0, lastCrash: Number.NEGATIVE_INFINITY };

const FORGOTTEN_AFTER_MS = 60_000;

function restartsAt(crashes: CrashHistory, now: number): number {
  return now - crashes.lastCrash < FORGOTTEN_AFTER_MS ? crashes.restarts : 0;
}

/**
 * Whether the server is restarted for calls that may have reached the lost connection. A vital server always
 * is.
 */
export function grantsRespawn(
  crashes: CrashHistory,
  server: { readonly vital: boolean; readonly now: number },
): boolean {
  return server.vital || restartsAt(crashes, server.now) === 0;
}

/** The history after a crash. `restarted`: a new connection is opened because of it. */
export function crashed(
  crashes: CrashHistory,
  crash: { readonly restarted: boolean; readonly now: number },
): CrashHistory {
  return { restarts: restartsAt(crashes, crash.now) + (crash.restarted ? 1 : 0), lastCrash: crash.now };
}

/** One call at the moment when its connection is lost. */
export interface Attempt {
  readonly repeat: Repeat;
  /** The call was answered, timed out or was cancelled. */
  readonly over: boolean;
  /** The call certainly did not reach the child on the lost connection. */
  readonly unsent: boolean;
  /** Number of connections on which the call was tried, including this one. */
  readonly tries: number;
  /** Number of these on which it may have reached the child. If it is over 1, the result says so. */
  readonly sent: number;
}

/**
 * Unsent calls are tried again, but a server that crashes again and again ends them after this many tries.
 */
export const MAX_TRIES = 3;

export interface RetryRule {
  /** Whether the server is restarted for its calls. */
  readonly respawn: boolean;
  readonly retry: ServerSpec["retry"];
}

/** Whether the call may be sent on a new connection. */
export function mayRepeat(call: Attempt, server: RetryRule): boolean {
  if (call.over || call.tries >= MAX_TRIES) return false;
  if (call.unsent) return true;
  return server.respawn && isRepeatable(call.repeat, server.retry) && call.sent < 2;
}

function isRepeatable(repeat: Repeat, retry: ServerSpec["retry"]): boolean {
  switch (retry) {
    case "safe":
      return repeat === "safe";
    case "crash":
      return repeat !== "unsafe";
    case "never":
      return false;
  }
}

/**
 * Whether the server is restarted although the call is not sent again: its tool does not say whether a second
 * call is safe. Then only a failed restart counts as a failure.
 */
export function restartsWithoutCall(call: Attempt, server: RetryRule): boolean {
  return server.respawn && server.retry === "safe" && call.repeat === "unknown" && !call.unsent;
}

/**
 * A crash under calls whose outcome is still open. It is recorded as exactly one failure, or none if a retry
 * recovers from it.
 */
export interface PendingCrash {
  /** Number of calls whose outcome is not known yet. With 0 the crash is settled. */
  readonly openCalls: number;
  /** The crash is already recorded, as the failure of the attempt before it. */
  readonly recorded: boolean;
}

/**
 * What became of a call after the crash. `recovered`: its second attempt was answered, or timed out while the
 * child still answers pings. `failed`: the connect of the restart failed (that connect is not counted as
 * well), or its connection was lost too. `unknown`: the call was not sent again, or its second attempt ended
 * without information about the child.
 */
export type CallOutcome = "recovered" | "failed" | "unknown";

export interface CrashUpdate {
  readonly pending: PendingCrash;
  /** The caller must record one failure. */
  readonly failure: boolean;
}

export const SETTLED: PendingCrash = { openCalls: 0, recorded: true };

/**
 * A crash under `calls`. `before` is the crash after which the lost connection was opened: if it is still
 * pending, it has failed and is settled by this one. So two crashes in a row are one failure, and each
 * further one is another.
 */
export function pendingCrash(before: PendingCrash | undefined, calls: number): CrashUpdate {
  if (calls === 0) return { pending: SETTLED, failure: false };
  const failure = before !== undefined && before.openCalls > 0;
  return { pending: { openCalls: calls, recorded: failure }, failure };
}

/** One more call was lost by the same crash. A crash that is already settled is not recorded again for it. */
export function addCall(crash: PendingCrash): PendingCrash {
  return crash.openCalls > 0
    ? { ...crash, openCalls: crash.openCalls + 1 }
    : { openCalls: 1, recorded: true };
}

/** Call it once for each call. */
export function settleCall(crash: PendingCrash, outcome: CallOutcome): CrashUpdate {
  if (crash.openCalls === 0) return { pending: crash, failure: false };
  switch (outcome) {
    case "recovered":
      return { pending: SETTLED, failure: false };
    case "failed":
      return { pending: SETTLED, failure: true };
    case "unknown":
      return crash.openCalls > 1
        ? { pending: { ...crash, openCalls: crash.openCalls - 1 }, failure: false }
        : { pending: SETTLED, failure: !crash.recorded };
  }
}
