/** Decides which code runs may start and which wait: a limit for all runs, and one per caller so that nobody takes all places. Starts nothing itself. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { Execution } from "./execution.ts";

export interface RunQueueSize {
  /** Runs at once. */
  readonly seats: number;
  /** Of these for one principal. */
  readonly each: number;
}

const MOST_WAITING = 1_000;

export class RunQueue {
  readonly #room: RunQueueSize;
  readonly #clock: Clock;
  readonly #enter: (execution: Execution) => void;
  readonly #waiting = new Map<Execution, Timer>();
  readonly #seated = new Map<string, number>();
  #taken = 0;

  constructor(room: RunQueueSize, clock: Clock, enter: (execution: Execution) => void) {
    this.#room = room;
    this.#clock = clock;
    this.#enter = enter;
  }

  /** Enters at once or later; who waits longer than it would run is told so. */
  arrive(execution: Execution): void {
    if (this.#hasSeat(execution)) return this.#seat(execution);
    for (const [one] of this.#waiting) if (one.ended) this.#drop(one);
    const tooMany = (): void =>
      execution.end({
        code: "pool_exhausted",
        message: "Too much code is running. This code was not run. Try again later.",
      });
    if (this.#waiting.size >= MOST_WAITING) return tooMany();
    this.#waiting.set(execution, this.#clock.after(execution.run.limits.wallMs, tooMany));
  }

  left({ run: { principal } }: Execution): void {
    const others = (this.#seated.get(principal) ?? 1) - 1;
    if (others > 0) this.#seated.set(principal, others);
    else this.#seated.delete(principal);
    this.#taken--;
    for (const [execution] of this.#waiting) {
      if (this.#taken >= this.#room.seats) return;
      if (execution.ended) this.#drop(execution);
      else if (this.#hasSeat(execution)) {
        this.#drop(execution);
        this.#seat(execution);
      }
    }
  }

  #hasSeat({ run: { principal } }: Execution): boolean {
    return this.#taken < this.#room.seats && (this.#seated.get(principal) ?? 0) < this.#room.each;
  }

  #seat(execution: Execution): void {
    const { principal } = execution.run;
    this.#taken++;
    this.#seated.set(principal, (this.#seated.get(principal) ?? 0) + 1);
    this.#enter(execution);
  }

  #drop(execution: Execution): void {
    this.#waiting.get(execution)?.cancel();
    this.#waiting.delete(execution);
  }
}
