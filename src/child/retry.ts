/**
 * The retry rule as values: may a server be started again after a crash, may a call go out a second time, and did
 * that cure the crash. Decides only; it neither starts nor sends, and nothing else leads to a second attempt.
 *
 * At the death of a connection under calls: `grantsRespawn` once; `mayRepeat` for each call; `crashed` once;
 * `died` once, and then one `hear` for each call when it is known what became of it. Where the calls of one death hear
 * of it one by one, `joined` for each after the first.
 */
import type { Repeat } from "../kernel/call.ts";

/** What is remembered of one server's crashes. */
export interface Crashes {
  readonly restarts: number;
  readonly lastCrash: number;
}

export const noCrashes: Crashes = { restarts: 0, lastCrash: Number.NEGATIVE_INFINITY };

const FORGOTTEN_AFTER_MS = 60_000;

function remembered(crashes: Crashes, now: number): number {
  return now - crashes.lastCrash < FORGOTTEN_AFTER_MS ? crashes.restarts : 0;
}

/** Whether calls that may have reached the dead connection get a respawn. A vital server always does. */
export function grantsRespawn(
  crashes: Crashes,
  server: { readonly vital: boolean; readonly now: number },
): boolean {
  return server.vital || remembered(crashes, server.now) === 0;
}

/** The memory after a crash. `restarted`: some call goes on to a new connection because of it. */
export function crashed(
  crashes: Crashes,
  crash: { readonly restarted: boolean; readonly now: number },
): Crashes {
  return { restarts: remembered(crashes, crash.now) + (crash.restarted ? 1 : 0), lastCrash: crash.now };
}

/** One call, seen from the death of its connection. */
export interface Attempted {
  readonly repeat: Repeat;
  /** It was answered, timed out or was cancelled. */
  readonly over: boolean;
  /** It certainly did not reach the connection that died. */
  readonly unsent: boolean;
  /** On how many connections it was tried, this one included. */
  readonly tries: number;
  /** How many of these it may have reached, this one included. Over 1, the result says so. */
  readonly sent: number;
}

/** Unsent calls go on, but not for ever: a server that dies again and again takes a call along at most twice. */
export const MAX_TRIES = 3;

/** Whether the call may go to a new connection. */
export function mayRepeat(
  call: Attempted,
  server: { readonly respawn: boolean; readonly retry: "crash" | "never" },
): boolean {
  if (call.over || call.tries >= MAX_TRIES) return false;
  if (call.unsent) return true;
  return server.respawn && server.retry === "crash" && call.repeat !== "unsafe" && call.sent < 2;
}

/** One death under calls and what became of it, so that it is recorded exactly once unless it was cured. */
export interface Episode {
  /** Calls of which it is not known yet what became of them; 0: it is over. */
  readonly open: number;
  /** This death is recorded already, as the failure of the attempt before. */
  readonly recorded: boolean;
}

/**
 * Cured: the second attempt was answered, or timed out at a child that lives. Failed: the connect of the respawn
 * failed (which is not counted once more) or its connection died too. Silent: the call was not repeated, or its
 * second attempt ended without telling anything.
 */
export type Word = "cured" | "failed" | "silent";

/** `failure`: one failure is to be recorded now. */
export interface Heard {
  readonly episode: Episode;
  readonly failure: boolean;
}

const over: Episode = { open: 0, recorded: true };

/**
 * The episode of a death under `calls`. `before` is the one that the dead connection was the respawn of: if it was
 * still open it has failed by this death, and is over. So two deaths in a row are one failure, each further one another.
 */
export function died(before: Episode | undefined, calls: number): Heard {
  if (calls === 0) return { episode: over, failure: false };
  const failure = before !== undefined && before.open > 0;
  return { episode: { open: calls, recorded: failure }, failure };
}

/** One more call was lost by the same death. What was cured or recorded already is not recorded for it. */
export function joined(episode: Episode): Episode {
  return episode.open > 0 ? { ...episode, open: episode.open + 1 } : { open: 1, recorded: true };
}

/** Once for each call. */
export function hear(episode: Episode, word: Word): Heard {
  if (episode.open === 0) return { episode, failure: false };
  switch (word) {
    case "cured":
      return { episode: over, failure: false };
    case "failed":
      return { episode: over, failure: true };
    case "silent":
      return episode.open > 1
        ? { episode: { ...episode, open: episode.open - 1 }, failure: false }
        : { episode: over, failure: !episode.recorded };
  }
}
