/**
 * The timeouts of one call: without a sign of the child, and in total. Both are paused while a person or a
 * model is asked.
 */
import type { Alarm, Timeout } from "./alarm.ts";

export interface CallLimits {
  /** The longest time without a sign of the child. */
  readonly silenceMs: number;
  /** Absolute time. */
  readonly deadline: number;
  /** How long there was no sign of the child before; 0 by default. */
  readonly silentMs?: number;
  /** The longest single pause; unlimited by default. */
  readonly pauseMs?: number;
}

export class CallTimer implements Timeout {
  before: Timeout | undefined;
  after: Timeout | undefined;
  readonly #alarm: Alarm;
  readonly #silenceMs: number;
  readonly #pauseMs: number;
  readonly #onExpired: (silentMs: number) => void;
  #deadline: number;
  /** The last sign of the child. */
  #lastSign: number;
  #pauses = 0;
  #pausedAt = 0;

  constructor(alarm: Alarm, limits: CallLimits, onExpired: (silentMs: number) => void) {
    this.#alarm = alarm;
    this.#silenceMs = limits.silenceMs;
    this.#pauseMs = limits.pauseMs ?? Number.POSITIVE_INFINITY;
    this.#deadline = limits.deadline;
    this.#onExpired = onExpired;
    this.#lastSign = alarm.now() - (limits.silentMs ?? 0);
    alarm.add(this);
  }

  get due(): number {
    if (this.#pauses > 0) return this.#pausedAt + this.#pauseMs;
    return Math.min(this.#lastSign + this.#silenceMs, this.#deadline);
  }

  /** The time until the deadline. A pause does not use it up. */
  get leftMs(): number {
    return this.#deadline - (this.#pauses > 0 ? this.#pausedAt : this.#alarm.now());
  }

  get silentMs(): number {
    return (this.#pauses > 0 ? this.#pausedAt : this.#alarm.now()) - this.#lastSign;
  }

  /** A sign of the child came, such as progress. */
  touch(): void {
    this.#lastSign = this.#alarm.now();
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = this.#alarm.now();
  }

  resume(): void {
    if (this.#pauses === 0 || --this.#pauses > 0) return;
    const now = this.#alarm.now();
    this.#deadline += Math.min(now - this.#pausedAt, this.#pauseMs);
    this.#lastSign = now;
    this.#alarm.moved(this);
  }

  stop(): void {
    this.#alarm.remove(this);
  }

  expire(now: number): void {
    this.#onExpired(now - this.#lastSign);
  }
}
