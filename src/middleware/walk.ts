/**
 * The way of one call through its layers: who it is with, and since when. Each border between two layers is crossed once
 * on the way in, and at each the clock is read once: what passed since the last belongs to the layer that it was with.
 */
import { type LayerStep, newTrail, type Trail } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";

interface Step extends LayerStep {
  ms: number;
  outcome: LayerStep["outcome"];
}

export class Walk {
  /** What the layer that was left last gave back. A layer that gives the same does nothing on the way back. */
  passed: Promise<Raw> | undefined;
  readonly #trail: Trail;
  readonly #clock: Clock;
  /** The innermost that it came to; undefined outside of all and behind all. */
  #with: Step | undefined;
  #since = 0;
  /** What came back last as an error. */
  #error: unknown;

  constructor(trail: Trail = newTrail(), clock: Clock) {
    this.#trail = trail;
    this.#clock = clock;
  }

  enter(use: string): Step {
    const step: Step = { use, ms: 0, outcome: "passed" };
    this.#cross(step);
    this.#trail.layers.push(step);
    return step;
  }

  /** It is with the server now. */
  leave(): void {
    this.#cross(undefined);
  }

  /** The server has answered. */
  back(error?: unknown): void {
    this.#since = this.#clock.now();
    this.#error = error;
  }

  ended(step: Step): void {
    this.#end(step);
    if (this.#with === step) step.outcome = "answered";
  }

  failed(step: Step, error: unknown): void {
    this.#end(step);
    if (error === this.#error) return;
    this.#error = error;
    step.outcome = "refused";
    this.#trail.by ??= step.use;
  }

  #cross(to: Step | undefined): void {
    const now = this.#clock.now();
    if (this.#with) this.#with.ms += now - this.#since;
    this.#with = to;
    this.#since = now;
  }

  #end(step: Step): void {
    const now = this.#clock.now();
    step.ms += now - this.#since;
    this.#since = now;
  }
}
