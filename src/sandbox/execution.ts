/** One run as the gateway sees it: takes what comes out of it, within bounds, and ends once, whatever the host says or does not say. */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { CodeRun, Failure, LimitName, LogLine, Outcome } from "./executor.ts";
import { LONGEST_MESSAGE, type RunFrame, writeFrame } from "./frames.ts";
import { isJson, oneLine } from "./json-line.ts";
import { isLimit, limitFailure } from "./limit-failure.ts";
import { OutCalls } from "./out-calls.ts";
import { WallTime } from "./wall-time.ts";

/** What a run that was told to stop gets before its host is killed. */
const GRACE_MS = 1_000;
const MOST_LINES = 1_010;
const PROGRESS_MS = 100;
/** What was on its way together may come together. */
const PROGRESS_BURST_MS = 1_000;

/** What a run needs of the host it is in. */
export interface HostSeat {
  write(text: string): void;
  /** The host is beyond reason; `failure` is what the culprit is told. */
  kill(culprit: number, failure: Failure): void;
  left(id: number): void;
}

export interface Backend {
  readonly name: string;
  readonly unsafe: boolean;
  readonly enforced: readonly LimitName[];
}

export class Execution {
  readonly outcome: Promise<Outcome>;
  readonly id: number;
  readonly run: CodeRun;
  #resolve!: (outcome: Outcome) => void;
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #began: number;
  readonly #logs: LogLine[] = [];
  readonly #calls: OutCalls;
  readonly #time: WallTime;
  readonly #onAbort = (): void => this.#stop({ code: "cancelled", message: "The run was cancelled." });
  #seat: HostSeat | undefined;
  #logBytes = 0;
  #progressFrom = 0;
  #kill: Timer | undefined;
  #ended = false;
  /** The limit that was reached before the host said how it ended. */
  #late: Failure | undefined;

  constructor(id: number, run: CodeRun, backend: Backend, clock: Clock) {
    this.id = id;
    this.run = run;
    this.#backend = backend;
    this.#clock = clock;
    this.#began = clock.now();
    this.#time = new WallTime({
      clock,
      onUp: () => this.#stop(limitFailure("wallMs", run.limits.wallMs), false),
      onHeld: (held) => this.#seat?.write(writeFrame({ type: "hold", id, held })),
    });
    this.#calls = new OutCalls({
      id,
      run,
      clock,
      hold: () => this.#time.hold(),
      write: (text) => this.#seat?.write(text),
    });
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    run.signal.addEventListener("abort", this.#onAbort);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The host is ready for it. */
  begin(seat: HostSeat): void {
    const { id, run } = this;
    this.#seat = seat;
    const { code, servers, tools, limits } = run;
    seat.write(writeFrame({ type: "exec", id, code, servers, tools, limits }));
    this.#time.begin(limits.wallMs);
  }

  receive(frame: RunFrame): void {
    switch (frame.type) {
      case "call":
        if (!this.#ended && !this.#calls.take(frame)) this.#revolt();
        break;
      case "log":
        this.#log(frame);
        break;
      case "progress":
        this.#progress(frame);
        break;
      case "done":
        this.#leave();
        this.#done(frame.value);
        break;
      case "fail":
        this.#leave();
        this.end(this.#failure(frame));
        break;
    }
  }

  /** The host is gone; `failure` where that is the doing of this run. */
  lost(failure: Failure | undefined, reason: string): void {
    this.#seat = undefined;
    this.#kill?.cancel();
    const told = `${reason} Calls made before that may have had effects. The code was not run again.`;
    this.end(this.#late ?? failure ?? { code: "sandbox_terminated", message: told });
  }

  /** What it is told if it computes for too long. */
  get tooLong(): Failure {
    return this.#late ?? limitFailure("cpuMs", this.run.limits.cpuMs);
  }

  end(error: Failure | undefined, value?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#time.end();
    this.run.signal.removeEventListener("abort", this.#onAbort);
    const now = this.#clock.now();
    const { name, unsafe, enforced } = this.#backend;
    this.#resolve({
      value,
      error,
      logs: this.#logs,
      calls: this.#calls.end(now),
      durationMs: now - this.#began,
      backend: name,
      enforced,
      unsafe,
    });
  }

  /** `told`: nobody waits for what the host has to say to it. */
  #stop(failure: Failure, told = true): void {
    const seat = this.#seat;
    if (!seat) return this.end(failure);
    seat.write(writeFrame({ type: "cancel", id: this.id }));
    this.#kill ??= this.#clock.after(GRACE_MS, () => {
      this.end(failure);
      seat.kill(this.id, failure);
    });
    if (told) this.end(failure);
    else this.#late ??= failure;
  }

  #leave(): void {
    this.#kill?.cancel();
    this.#seat?.left(this.id);
    this.#seat = undefined;
  }

  #done(value: string | undefined): void {
    const { valueBytes } = this.run.limits;
    if (value !== undefined && Buffer.byteLength(value) > valueBytes)
      return this.end(limitFailure("valueBytes", valueBytes));
    if (value !== undefined && !isJson(value))
      return this.end({ code: "internal", message: "The sandbox returned an unreadable value." });
    this.end(undefined, value === undefined ? undefined : oneLine(value));
  }

  #failure({ name, message, line, limit }: Extract<RunFrame, { type: "fail" }>): Failure {
    if (this.#late) return this.#late;
    if (limit !== undefined && isLimit(limit))
      return { ...limitFailure(limit, this.run.limits[limit]), ...(line !== undefined && { line }) };
    const where = line === undefined ? "" : ` (line ${line})`;
    const said = `${name === "" ? "Uncaught" : name}: ${message}`.slice(0, LONGEST_MESSAGE);
    return {
      code: "execution_failed",
      message: `${said}${where}`,
      ...(name !== "" && { name }),
      ...(line !== undefined && { line }),
    };
  }

  #log({ level, text }: Extract<RunFrame, { type: "log" }>): void {
    if (this.#ended) return;
    this.#logBytes += Buffer.byteLength(text);
    // The host cuts them; one that does not is not ours any more.
    if (this.#logBytes > this.run.limits.logBytes + 1_024 || this.#logs.length >= MOST_LINES)
      return this.#revolt();
    this.#logs.push({ level, text });
  }

  /** The host thins it out; one that does not is not heard. */
  #progress(frame: Extract<RunFrame, { type: "progress" }>): void {
    const now = this.#clock.now();
    if (this.#ended || now < this.#progressFrom) return;
    this.#progressFrom = Math.max(this.#progressFrom, now - PROGRESS_BURST_MS) + PROGRESS_MS;
    this.run.progress?.(frame);
  }

  #revolt(): void {
    const message = "The sandbox exceeded its limits and was killed.";
    this.#seat?.kill(this.id, { code: "sandbox_terminated", message });
  }
}
