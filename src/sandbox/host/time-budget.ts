/** The time that one run may take: in all, and for one stretch of computing. Tells when it is used up; ends nothing itself. */
// The code may have put its own in the place of the global ones, where it runs in this very process.
import { clearTimeout, setTimeout } from "node:timers";
import type { Limits } from "../executor.ts";

const HEARTBEAT_MS = 100;
/** A stretch of computing may last so many times longer than it would on an idle machine. */
const MOST_STARVED = 3;

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

  /** `onUp` is called when all of it has passed while nothing was computed. */
  constructor({ wallMs, cpuMs }: Pick<Limits, "wallMs" | "cpuMs">, onUp: () => void) {
    this.#cpuMs = cpuMs;
    this.#onUp = onUp;
    this.#deadline = performance.now() + wallMs;
    this.#wall = setTimeout(onUp, wallMs);
  }

  /** While somebody is asked, no time passes. */
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

  /** A stretch of computing begins. */
  enter(): void {
    this.#stretchStart = performance.now();
    this.#stretchUsage = process.cpuUsage();
    this.#beatAt = this.#stretchStart;
    this.#stretchEnd = Math.min(this.#stretchStart + this.#cpuMs, this.#due);
  }

  leave(): void {
    this.#stretchEnd = Number.POSITIVE_INFINITY;
  }

  /** The very last stretch: a moment, however busy the machine is. */
  enterLast(): void {
    this.#stretchStart = performance.now() - MOST_STARVED * this.#cpuMs;
    this.#stretchEnd = performance.now() + HEARTBEAT_MS;
  }

  /** It is worth looking closer. */
  get doubtful(): boolean {
    return performance.now() >= this.#stretchEnd;
  }

  /** The limit that this stretch has reached. */
  exceeded(now: number): "wallMs" | "cpuMs" | undefined {
    if (now < this.#stretchEnd || this.#starved(now)) return undefined;
    return now >= this.#due ? "wallMs" : "cpuMs";
  }

  /** Whether it is time for a sign of life; once for each. */
  beats(now: number): boolean {
    if (now < this.#beatAt + HEARTBEAT_MS) return false;
    this.#beatAt = now;
    return true;
  }

  end(): void {
    clearTimeout(this.#wall);
  }

  /** When it must end; never, while somebody is asked. */
  get #due(): number {
    return this.#heldAt === undefined ? this.#deadline : Number.POSITIVE_INFINITY;
  }

  /** On a busy machine time passes without computing; that is nobody's fault, up to a point. */
  #starved(now: number): boolean {
    if (now >= Math.min(this.#due, this.#stretchStart + MOST_STARVED * this.#cpuMs)) return false;
    const { user, system } = process.cpuUsage(this.#stretchUsage);
    const left = this.#cpuMs - (user + system) / 1_000;
    if (left < 1) return false;
    this.#stretchEnd = Math.min(now + left, this.#due);
    return true;
  }
}
