/** How long one call may be silent and how long it may take in all. Stands still while a person or a model is asked. */
import type { Alarm, Appointment } from "./alarm.ts";

export interface CallLimits {
  readonly silenceMs: number;
  /** Absolute. */
  readonly deadline: number;
  /** How long it may stand still at once; for ever unless given. */
  readonly pauseMs?: number;
}

export class CallTimer implements Appointment {
  before: Appointment | undefined;
  after: Appointment | undefined;
  readonly #alarm: Alarm;
  readonly #silenceMs: number;
  readonly #pauseMs: number;
  readonly #expired: (waitedMs: number) => void;
  #deadline: number;
  #heard: number;
  #pauses = 0;
  #pausedAt = 0;

  constructor(alarm: Alarm, limits: CallLimits, expired: (waitedMs: number) => void) {
    this.#alarm = alarm;
    this.#silenceMs = limits.silenceMs;
    this.#pauseMs = limits.pauseMs ?? Number.POSITIVE_INFINITY;
    this.#deadline = limits.deadline;
    this.#expired = expired;
    this.#heard = alarm.now();
    alarm.add(this);
  }

  get due(): number {
    if (this.#pauses > 0) return this.#pausedAt + this.#pauseMs;
    return Math.min(this.#heard + this.#silenceMs, this.#deadline);
  }

  /** The child was heard: silence begins anew. */
  touch(): void {
    this.#heard = this.#alarm.now();
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = this.#alarm.now();
  }

  resume(): void {
    if (this.#pauses === 0 || --this.#pauses > 0) return;
    const now = this.#alarm.now();
    this.#deadline += Math.min(now - this.#pausedAt, this.#pauseMs);
    this.#heard = now;
    this.#alarm.sooner(this);
  }

  stop(): void {
    this.#alarm.remove(this);
  }

  expire(now: number): void {
    this.#expired(now - this.#heard);
  }
}
