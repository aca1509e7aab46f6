/** One run as the gateway sees it: counts what comes out, hands on calls, and ends once, whatever the host says or does not say. */
import type { Clock, Timer } from "../kernel/clock.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { CallRecord, Failure, Limit, LogLine, Outcome, Run } from "./executor.ts";
import { LONGEST_LINE, type RunFrame, writeFrame, writeRefusal, writeResult } from "./frames.ts";

/** What a run that was told to stop gets before its host is killed. */
const GRACE_MS = 1_000;
const MOST_LINES = 1_010;
const PROGRESS_MS = 100;
/** What was on its way together may come together. */
const PROGRESS_BURST_MS = 1_000;
const LONGEST_ERROR = 16 << 10;

/** What a run needs of the host it is in. */
export interface Seat {
  write(text: string): void;
  /** The host is beyond reason; `failure` is what the culprit is told. */
  kill(culprit: number, failure: Failure): void;
  left(id: number): void;
}

export interface Backend {
  readonly name: string;
  readonly unsafe: boolean;
  readonly enforced: readonly Limit[];
}

const SPOKEN: Readonly<Record<Limit, string>> = {
  wallMs: "It ran longer than it may",
  cpuMs: "It computed for too long without waiting for anything",
  memoryBytes: "It used more memory than it may",
  stackBytes: "It called itself too deeply",
  calls: "It made more calls than it may",
  callsInFlight: "It had more calls in flight than it may",
  argsBytes: "The arguments of a call were too large",
  resultBytes: "The result of a call was too large",
  valueBytes: "Its value is too large: return only what is needed",
  logBytes: "It logged more than it may",
  codeBytes: "The code is too long",
};

export function limitFailure(limit: Limit, most: number): Failure {
  const unit = limit.endsWith("Ms") ? " ms" : limit.endsWith("Bytes") ? " bytes" : "";
  return { code: "sandbox_limit", message: `${SPOKEN[limit]} (${limit}: ${most}${unit}).`, limit };
}

export class Execution {
  readonly outcome: Promise<Outcome>;
  readonly id: number;
  readonly run: Run;
  #resolve!: (outcome: Outcome) => void;
  readonly #backend: Backend;
  readonly #clock: Clock;
  readonly #began: number;
  readonly #logs: LogLine[] = [];
  readonly #calls: { server: string; tool: string; began: number; ms?: number; error?: string }[] = [];
  readonly #inFlight = new Map<number, CallSignal>();
  readonly #onAbort = (): void => this.#stop({ code: "cancelled", message: "The run was cancelled." });
  #seat: Seat | undefined;
  #logBytes = 0;
  #progressFrom = 0;
  #wall: Timer | undefined;
  #kill: Timer | undefined;
  #ended = false;
  #holds = 0;
  /** Of the time it may take, since `#since`. */
  #left = 0;
  #since = 0;

  constructor(id: number, run: Run, backend: Backend, clock: Clock) {
    this.id = id;
    this.run = run;
    this.#backend = backend;
    this.#clock = clock;
    this.#began = clock.now();
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    run.signal.addEventListener("abort", this.#onAbort);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The host is ready for it. */
  begin(seat: Seat): void {
    const { id, run } = this;
    this.#seat = seat;
    const { code, servers, limits } = run;
    seat.write(writeFrame({ type: "exec", id, code, servers, limits }));
    this.#left = limits.wallMs;
    this.#tick();
  }

  #tick(): void {
    const { wallMs } = this.run.limits;
    this.#since = this.#clock.now();
    this.#wall = this.#clock.after(this.#left, () => this.#stop(limitFailure("wallMs", wallMs), false));
  }

  /** Nobody is waited for longer than patience lasts, which is kept elsewhere. */
  #hold(): () => void {
    if (this.#holds++ === 0) {
      this.#wall?.cancel();
      this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since));
      this.#seat?.write(writeFrame({ type: "hold", id: this.id, held: true }));
    }
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#holds > 0 || this.#ended) return;
      this.#seat?.write(writeFrame({ type: "hold", id: this.id, held: false }));
      this.#tick();
    };
  }

  receive(frame: RunFrame): void {
    switch (frame.type) {
      case "call":
        this.#call(frame);
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
    const told = `${reason} What the code had done by then is done; it was not repeated.`;
    this.end(this.#late ?? failure ?? { code: "sandbox_terminated", message: told });
  }

  /** What it is told if it computes for too long. */
  get tooLong(): Failure {
    return this.#late ?? limitFailure("cpuMs", this.run.limits.cpuMs);
  }

  end(error: Failure | undefined, value?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wall?.cancel();
    this.run.signal.removeEventListener("abort", this.#onAbort);
    const now = this.#clock.now();
    for (const signal of this.#inFlight.values())
      signal.abort(new Error("the code that made this call has ended"));
    this.#inFlight.clear();
    const { name, unsafe, enforced } = this.#backend;
    this.#resolve({
      value,
      error,
      logs: this.#logs,
      calls: this.#calls.map((call) => recordOf(call, now)),
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

  /** The limit that was reached before the host said how it ended. */
  #late: Failure | undefined;

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
      return this.end({ code: "internal", message: "The sandbox gave no value that can be read." });
    this.end(undefined, value === undefined ? undefined : oneLine(value));
  }

  #failure({ name, message, line, limit }: Extract<RunFrame, { type: "fail" }>): Failure {
    if (this.#late) return this.#late;
    if (limit !== undefined && Object.hasOwn(SPOKEN, limit))
      return limitFailure(limit, this.run.limits[limit]);
    const where = line === undefined ? "" : ` (line ${line})`;
    const said = `${name === "" ? "Uncaught" : name}: ${message}`.slice(0, LONGEST_ERROR);
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
    const message = "The sandbox did not keep to its limits and was killed.";
    this.#seat?.kill(this.id, { code: "sandbox_terminated", message });
  }

  #call({ callId, server, tool, args }: Extract<RunFrame, { type: "call" }>): void {
    const { calls, callsInFlight, argsBytes } = this.run.limits;
    if (this.#ended) return;
    const fits =
      this.#calls.length < calls && this.#inFlight.size < callsInFlight && !this.#inFlight.has(callId);
    if (!fits || Buffer.byteLength(args) > argsBytes) return this.#revolt();
    const record = { server, tool, began: this.#clock.now() };
    this.#calls.push(record);
    const signal = new CallSignal();
    this.#inFlight.set(callId, signal);
    void this.#answer(callId, record, args, signal);
  }

  async #answer(
    callId: number,
    record: { server: string; tool: string; began: number; ms?: number; error?: string },
    args: string,
    signal: CallSignal,
  ): Promise<void> {
    const { server, tool } = record;
    let text: string;
    try {
      if (!isJsonObject(args))
        throw Object.assign(new Error("The arguments of a tool are an object."), {
          code: "validation_input",
        });
      const value = oneLine(
        await this.run.call({ server, tool, args: oneLine(args), signal, hold: () => this.#hold() }),
      );
      const { resultBytes } = this.run.limits;
      if (Buffer.byteLength(value) > Math.min(resultBytes, LONGEST_LINE - 1_024))
        throw Object.assign(
          new Error(`The result of ${server}:${tool} has more than ${resultBytes} bytes.`),
          {
            code: "result_too_large",
          },
        );
      text = writeResult(this.id, callId, value);
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown };
      record.error = typeof code === "string" ? code : "execution_failed";
      const told = {
        name: "ToolError",
        message: String(message).slice(0, LONGEST_ERROR),
        code: record.error,
      };
      text = writeRefusal(this.id, callId, told);
    }
    record.ms = this.#clock.now() - record.began;
    if (this.#inFlight.delete(callId)) this.#seat?.write(text);
  }
}

function recordOf(
  {
    server,
    tool,
    began,
    ms,
    error,
  }: { server: string; tool: string; began: number; ms?: number; error?: string },
  now: number,
): CallRecord {
  const failed = ms === undefined ? "cancelled" : error;
  return {
    server,
    tool,
    ms: Math.round((ms ?? now - began) * 10) / 10,
    ...(failed !== undefined && { error: failed }),
  };
}

/** Between the tokens of JSON a line break is as good as a space, and within them there is none. */
function oneLine(json: string): string {
  return /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]/g, " ") : json;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text) && isJson(text);
}
