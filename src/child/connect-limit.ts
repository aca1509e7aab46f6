/**
 * Limits how long a connect may take. `connectTimeoutMs` counts from the moment the server itself runs; while
 * a package runner still installs it, the limit is the longer one for installs; while it waits for its turn
 * to install, there is none.
 */
import type { ServerSpec } from "../config/spec.ts";
import type { Clock, Timer } from "../kernel/clock.ts";
import { INSTALL_MS } from "./download.ts";

export type StartPhase = "waiting" | "installing" | "started";

interface ConnectLimit {
  readonly clock: Clock;
  readonly spec: ServerSpec;
  readonly phase: () => StartPhase;
  /** `limitMs` have passed in that phase. */
  readonly onLate: (phase: StartPhase, limitMs: number) => void;
}

/** How often a start that may install is looked at. */
const LOOK_MS = 500;

export function limitConnect({ clock, spec, phase, onLate }: ConnectLimit): Timer {
  let timer: Timer;
  let [last, since] = [phase(), clock.now()];
  const look = (): void => {
    const now = phase();
    if (now !== last) [last, since] = [now, clock.now()];
    const limitMs = now === "started" ? spec.connectTimeoutMs : INSTALL_MS;
    const leftMs = since + limitMs - clock.now();
    if (now === "waiting") timer = clock.after(LOOK_MS, look);
    else if (leftMs <= 0) onLate(now, limitMs);
    else timer = clock.after(now === "started" ? leftMs : Math.min(leftMs, LOOK_MS), look);
  };
  look();
  return { cancel: () => timer.cancel() };
}
