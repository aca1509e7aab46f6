/**
 * Records the path of one call through its layers: each step with its time and outcome. The clock is read
 * once each time the call passes from one layer to the next. The time since the last reading belongs to the
 * layer that the call was in.
 */
import { type LayerStep, newTrail, refusedBy, type Trail } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Raw } from "../kernel/raw.ts";

interface Step extends LayerStep {
  outcome: LayerStep["outcome"];
}

export class StepRecorder {
  /**
   * The promise of the layer that returned last. A layer that returns the same promise does nothing with the
   * result.
   */
  passed: Promise<Raw> | undefined;
  readonly #trail: Trail;
  readonly #clock: Clock;
  /** The layer that the call is in; undefined outside of all layers and at the server. */
  #current: Step | undefined;
  #since = 0;
  /** The error that came back last. */
  #error: unknown;

  constructor(trail: Trail = newTrail(), clock: Clock) {
    this.#trail = trail;
    this.#clock = clock;
  }

  enter(use: string): Step {
    const step: Step = { use, ms: 0, outcome: "passed" };
    this.#moveTo(step);
    this.#trail.layers.push(step);
    return step;
  }

  /** The call leaves the layers and goes to the server. */
  leave(): void {
    this.#moveTo(undefined);
  }

  /** The server has answered. */
  back(error?: unknown): void {
    this.#since = this.#clock.now();
    this.#error = error;
  }

  ended(step: Step): void {
    this.#end(step);
    if (this.#current === step) step.outcome = "answered";
  }

  /** `at`: the object that has the layer. */
  failed(step: Step, error: unknown, at: string): void {
    this.#end(step);
    if (error === this.#error) return;
    this.#error = error;
    step.outcome = "refused";
    refusedBy(this.#trail, step.use, at);
  }

  #moveTo(step: Step | undefined): void {
    const now = this.#clock.now();
    if (this.#current) this.#current.ms += now - this.#since;
    this.#current = step;
    this.#since = now;
  }

  #end(step: Step): void {
    const now = this.#clock.now();
    step.ms += now - this.#since;
    this.#since = now;
  }
}
