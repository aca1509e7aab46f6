/**
 * Decides which runs may start and which wait. One limit counts all runs, another the runs of one principal.
 * Starts nothing itself.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Execution } from "./execution.ts";

export interface RunQueueLimits {
  /** Runs at the same time. */
  readonly runs: number;
  /** Runs of one principal at the same time. */
  readonly perPrincipal: number;
}

const MAX_WAITING = 1_000;

export class RunQueue {
  readonly #limits: RunQueueLimits;
  readonly #clock: Clock;
  readonly #start: (execution: Execution) => void;
  readonly #waiting = new Map<Execution, Timer>();
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  constructor(limits: RunQueueLimits, clock: Clock, start: (execution: Execution) => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#start = start;
  }

  /** Starts the run at once or later. It fails if it waits longer than its own `wallMs`. */
  add(execution: Execution): void {
    if (this.#mayStart(execution)) return this.#startNow(execution);
    for (const [one] of this.#waiting) if (one.ended) this.#drop(one);
    const tooMany = (): void =>
      execution.end({
        code: "pool_exhausted",
        message: "Too much code is running. This code was not run. Try again later.",
      });
    if (this.#waiting.size >= MAX_WAITING) return tooMany();
    this.#waiting.set(execution, this.#clock.after(execution.run.limits.wallMs, tooMany));
  }

  /** A started run has ended. Starts waiting runs. */
  release({ run: { principal } }: Execution): void {
    const others = (this.#runningOf.get(principal) ?? 1) - 1;
    if (others > 0) this.#runningOf.set(principal, others);
    else this.#runningOf.delete(principal);
    this.#running--;
    for (const [execution] of this.#waiting) {
      if (this.#running >= this.#limits.runs) return;
      if (execution.ended) this.#drop(execution);
      else if (this.#mayStart(execution)) {
        this.#drop(execution);
        this.#startNow(execution);
      }
    }
  }

  #mayStart({ run: { principal } }: Execution): boolean {
    return (
      this.#running < this.#limits.runs && (this.#runningOf.get(principal) ?? 0) < this.#limits.perPrincipal
    );
  }

  #startNow(execution: Execution): void {
    const { principal } = execution.run;
    this.#running++;
    this.#runningOf.set(principal, (this.#runningOf.get(principal) ?? 0) + 1);
    this.#start(execution);
  }

  #drop(execution: Execution): void {
    this.#waiting.get(execution)?.cancel();
    this.#waiting.delete(execution);
  }
}
