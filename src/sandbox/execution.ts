/**
 * One run, in the gateway: receives the frames of its host, enforces the limits, and ends exactly once,
 * whatever the host sends or does not send.
 */
import type { Clock, Timer } from "../kernel/clock.ts";
import type { CodeRun, Failure, LimitName, LogLine, Outcome } from "./executor.ts";
import { LONGEST_MESSAGE, type RunFrame, writeFrame } from "./frames.ts";
import { isJson, oneLine } from "./json-line.ts";
import { isLimit, limitFailure } from "./limit-failure.ts";
import { OutCalls } from "./out-calls.ts";
import { WallTime } from "./wall-time.ts";

/** Time that a cancelled run has to end before its host is killed. */
const GRACE_MS = 1_000;
/** The host stops at 1,000 lines; more than this is a violation. */
const MAX_LOG_LINES = 1_010;
/** Average interval between progress frames that are passed on. */
const PROGRESS_MS = 100;
/** Frames of this time may arrive together, because pipes deliver in bursts. */
const PROGRESS_BURST_MS = 1_000;

/** What a run needs from its host. */
export interface ExecutionHost {
  write(text: string): void;
  /** Kills the host. The run `culprit` ends with `failure`, the other runs with a general message. */
  kill(culprit: number, failure: Failure): void;
  /** The run has ended in the host. */
  release(id: number): void;
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
  #host: ExecutionHost | undefined;
  #logBytes = 0;
  /** Earlier progress frames are dropped. */
  #progressFrom = 0;
  #kill: Timer | undefined;
  #ended = false;
  /** The time limit was reached, but the host has not yet reported the end. */
  #timeFailure: Failure | undefined;

  constructor(id: number, run: CodeRun, backend: Backend, clock: Clock) {
    this.id = id;
    this.run = run;
    this.#backend = backend;
    this.#clock = clock;
    this.#began = clock.now();
    this.#time = new WallTime({
      clock,
      onUp: () => this.#stop(limitFailure("wallMs", run.limits.wallMs), false),
      onHeld: (held) => this.#host?.write(writeFrame({ type: "hold", id, held })),
    });
    this.#calls = new OutCalls({
      id,
      run,
      clock,
      hold: () => this.#time.hold(),
      write: (text) => this.#host?.write(text),
    });
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    run.signal.addEventListener("abort", this.#onAbort);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Starts the run in a host that is ready. */
  begin(host: ExecutionHost): void {
    const { id, run } = this;
    this.#host = host;
    const { code, servers, tools, limits } = run;
    host.write(writeFrame({ type: "exec", id, code, servers, tools, limits }));
    this.#time.begin(limits.wallMs);
  }

  receive(frame: RunFrame): void {
    switch (frame.type) {
      case "call":
        if (!this.#ended && !this.#calls.take(frame)) this.#killHost();
        break;
      case "log":
        this.#log(frame);
        break;
      case "progress":
        this.#progress(frame);
        break;
      case "done":
        this.#releaseHost();
        this.#done(frame.value);
        break;
      case "fail":
        this.#releaseHost();
        this.end(this.#failure(frame));
        break;
    }
  }

  /** Called when the host has ended. `failure` is set if this run caused that. */
  lost(failure: Failure | undefined, reason: string): void {
    this.#host = undefined;
    this.#kill?.cancel();
    const message = `${reason} Calls made before that may have had effects. The code was not run again.`;
    this.end(this.#timeFailure ?? failure ?? { code: "sandbox_terminated", message });
  }

  /** The failure of this run if it blocked its host. */
  get cpuFailure(): Failure {
    return this.#timeFailure ?? limitFailure("cpuMs", this.run.limits.cpuMs);
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

  /** Cancels the run in its host. `immediately`: the outcome does not wait for the host's last frames. */
  #stop(failure: Failure, immediately = true): void {
    const host = this.#host;
    if (!host) return this.end(failure);
    host.write(writeFrame({ type: "cancel", id: this.id }));
    this.#kill ??= this.#clock.after(GRACE_MS, () => {
      this.end(failure);
      host.kill(this.id, failure);
    });
    if (immediately) this.end(failure);
    else this.#timeFailure ??= failure;
  }

  #releaseHost(): void {
    this.#kill?.cancel();
    this.#host?.release(this.id);
    this.#host = undefined;
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
    if (this.#timeFailure) return this.#timeFailure;
    if (limit !== undefined && isLimit(limit))
      return { ...limitFailure(limit, this.run.limits[limit]), ...(line !== undefined && { line }) };
    const where = line === undefined ? "" : ` (line ${line})`;
    const text = `${name === "" ? "Uncaught" : name}: ${message}`.slice(0, LONGEST_MESSAGE);
    return {
      code: "execution_failed",
      message: `${text}${where}`,
      ...(name !== "" && { name }),
      ...(line !== undefined && { line }),
    };
  }

  #log({ level, text }: Extract<RunFrame, { type: "log" }>): void {
    if (this.#ended) return;
    this.#logBytes += Buffer.byteLength(text);
    // The host cuts logs at the limit. A host that does not has been taken over by the code.
    if (this.#logBytes > this.run.limits.logBytes + 1_024 || this.#logs.length >= MAX_LOG_LINES)
      return this.#killHost();
    this.#logs.push({ level, text });
  }

  /** The host limits the rate. Frames above the rate are dropped here too. */
  #progress(frame: Extract<RunFrame, { type: "progress" }>): void {
    const now = this.#clock.now();
    if (this.#ended || now < this.#progressFrom) return;
    this.#progressFrom = Math.max(this.#progressFrom, now - PROGRESS_BURST_MS) + PROGRESS_MS;
    this.run.progress?.(frame);
  }

  /** For a host that exceeds limits which it should enforce itself. */
  #killHost(): void {
    const message = "The sandbox exceeded its limits and was killed.";
    this.#host?.kill(this.id, { code: "sandbox_terminated", message });
  }
}
