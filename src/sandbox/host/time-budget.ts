/**
 * The time limits of one run: the whole run, and one stretch of computing without an `await`. Reports when
 * one is exceeded; ends nothing itself.
 */
// Imported, because code that runs in this same process can replace the global functions.
import { clearTimeout, setTimeout } from "node:timers";
import type { Limits } from "../executor.ts";

const HEARTBEAT_MS = 100;
/** On a busy machine a stretch may last this many times `cpuMs`. */
const MAX_STARVATION = 3;

export class TimeBudget {
  readonly #cpuMs: number;
  readonly #onUp: () => void;
  #deadline: number;
  #wall: NodeJS.Timeout;
  #heldAt: number | undefined;
  #stretchStart = 0;
  #stretchUsage: NodeJS.CpuUsage | undefined;
  #stretchEnd = Number.POSITIVE_INFINITY;
  #beatAt = 0;

  /** `onUp` is called when `wallMs` has passed while no code was computing. */
  constructor({ wallMs, cpuMs }: Pick<Limits, "wallMs" | "cpuMs">, onUp: () => void) {
    this.#cpuMs = cpuMs;
    this.#onUp = onUp;
    this.#deadline = performance.now() + wallMs;
    this.#wall = setTimeout(onUp, wallMs);
  }

  /** Pauses or resumes the time of the whole run. */
  hold(held: boolean): void {
    if (held === (this.#heldAt !== undefined)) return;
    const now = performance.now();
    if (held) {
      this.#heldAt = now;
      clearTimeout(this.#wall);
      return;
    }
    this.#deadline += now - (this.#heldAt ?? now);
    this.#heldAt = undefined;
    this.#wall = setTimeout(this.#onUp, Math.max(0, this.#deadline - now));
  }

  /** Starts a stretch of computing. */
  enter(): void {
    this.#stretchStart = performance.now();
    this.#stretchUsage = process.cpuUsage();
    this.#beatAt = this.#stretchStart;
    this.#stretchEnd = Math.min(this.#stretchStart + this.#cpuMs, this.#due);
  }

  leave(): void {
    this.#stretchEnd = Number.POSITIVE_INFINITY;
  }

  /** Starts the last stretch. It is short, however busy the machine is. */
  enterLast(): void {
    this.#stretchStart = performance.now() - MAX_STARVATION * this.#cpuMs;
    this.#stretchEnd = performance.now() + HEARTBEAT_MS;
  }

  /** A cheap check before `exceeded`. */
  get mayBeExceeded(): boolean {
    return performance.now() >= this.#stretchEnd;
  }

  /** The limit that this stretch has exceeded. */
  exceeded(now: number): "wallMs" | "cpuMs" | undefined {
    if (now < this.#stretchEnd || this.#starved(now)) return undefined;
    return now >= this.#due ? "wallMs" : "cpuMs";
  }

  /** Whether a heartbeat is due. True once per interval. */
  takeHeartbeat(now: number): boolean {
    if (now < this.#beatAt + HEARTBEAT_MS) return false;
    this.#beatAt = now;
    return true;
  }

  end(): void {
    clearTimeout(this.#wall);
  }

  /** The deadline of the run; infinite while it is paused. */
  get #due(): number {
    return this.#heldAt === undefined ? this.#deadline : Number.POSITIVE_INFINITY;
  }

  /**
   * True if the stretch used less CPU time than `cpuMs`, because the machine is busy. Then the stretch is
   * extended, up to a limit.
   */
  #starved(now: number): boolean {
    if (now >= Math.min(this.#due, this.#stretchStart + MAX_STARVATION * this.#cpuMs)) return false;
    const { user, system } = process.cpuUsage(this.#stretchUsage);
    const left = this.#cpuMs - (user + system) / 1_000;
    if (left < 1) return false;
    this.#stretchEnd = Math.min(now + left, this.#due);
    return true;
  }
}
