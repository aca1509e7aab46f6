/** One run inside the host: enforces its limits, forwards its calls, and reports its end exactly once. */
// Imported, because code that runs in this same process can replace the global function.
import { setImmediate } from "node:timers";
import type { LimitName, Limits, LogLine } from "../executor.ts";
import type { FromHost, ResultFrame, ToHost } from "../frames.ts";
import { calleeIn } from "./callee.ts";
import { type EngineHooks, Exhausted, lineIn, type ScriptEngine, Stopped, Uncompilable } from "./engine.ts";
import type { Thrown } from "./guest/guest.ts";
import { GuestTimers } from "./guest-timers.ts";
import { markIntegers, mayHaveIntegers } from "./integers.ts";
import { Reports } from "./reports.ts";
import { TimeBudget } from "./time-budget.ts";
import { LONGEST_URL, urlParts } from "./url-parts.ts";

const LONGEST_NAME = 1_000;
const MOST_RANDOM = 65_536;
const LONGEST_MESSAGE = 16_000;
/** The complete message of QuickJS for a call of something else. */
const NOT_A_FUNCTION = "not a function";

export type Exec = Extract<ToHost, { type: "exec" }>;

export interface RunParts {
  readonly send: (frame: FromHost) => void;
  readonly engine: (hooks: EngineHooks) => ScriptEngine;
  /** Called when the run has ended and its engine is disposed. */
  readonly ended: () => void;
  /** Whether all runs of this host together exceed the memory limit and this run uses the most. */
  readonly exceedsMemory: (run: HostRun) => boolean;
}

export class HostRun {
  readonly id: number;
  readonly #limits: Limits;
  readonly #parts: RunParts;
  readonly #engine: ScriptEngine;
  readonly #code: string;
  readonly #reports: Reports;
  readonly #time: TimeBudget;
  readonly #timers: GuestTimers;
  #inFlight = 0;
  #lastCall = 0;
  /** How the run ended. Set while the engine runs; sent by `#endIfOver` afterwards. */
  #over: FromHost | undefined;
  #ended = false;

  constructor(exec: Exec, parts: RunParts) {
    this.id = exec.id;
    this.#limits = exec.limits;
    this.#parts = parts;
    this.#code = exec.code;
    this.#reports = new Reports(exec.id, exec.limits.logBytes, parts.send);
    this.#time = new TimeBudget(exec.limits, () => this.#onTimeout());
    this.#timers = new GuestTimers(exec.limits.wallMs + 1_000, (id) =>
      this.#enter(() => this.#engine.control("fire", id)),
    );
    this.#engine = parts.engine({
      bridge: (op, a, b, c) => this.#bridge(op, a, b, c),
      checkTime: () => this.#checkTime(),
      isOver: () => this.#over?.type === "fail",
    });
  }

  begin({ servers, tools }: Pick<Exec, "servers" | "tools">): void {
    let problem: Uncompilable | undefined;
    this.#enter(() => {
      this.#engine.control("begin", JSON.stringify(servers), JSON.stringify(tools ?? {}));
      problem = this.#engine.start(this.#code);
    });
    if (problem && !this.#ended) void this.#beginTyped(problem);
  }

  /** Tries the code as TypeScript after a syntax error. */
  async #beginTyped(problem: Uncompilable): Promise<void> {
    const plain = await import("./strip-types.ts")
      .then(({ stripTypes }) => stripTypes(this.#code, problem))
      .catch(() => problem);
    this.#enter(() => {
      const error = typeof plain === "string" ? this.#engine.start(plain) : plain;
      if (error) throw error;
    });
  }

  get memoryBytes(): number {
    return this.#engine.memoryBytes;
  }

  settled({ callId, ok, value }: ResultFrame): void {
    this.#inFlight--;
    const how = mayHaveIntegers(value) ? "integers" : "ok";
    this.#enter(() => this.#engine.control("settle", String(callId), ok ? how : "", value));
  }

  cancel(): void {
    this.#end({ type: "fail", id: this.id, name: "Cancelled", message: "cancelled" });
  }

  hold(held: boolean): void {
    if (!this.#ended) this.#time.hold(held);
  }

  exceedMemory(): void {
    this.#end(this.#limitFrame("memoryBytes"));
  }

  /** Runs one step of the guest within the time limits. All code of the guest runs through this. */
  #enter(step: () => void): void {
    if (this.#ended) return;
    this.#time.enter();
    let done = true;
    try {
      step();
      done = this.#engine.pump();
    } catch (error) {
      this.#engineFailed(error);
    }
    this.#time.leave();
    if (done) this.#endIfOver();
    else setImmediate(() => this.#endIfOver());
  }

  #engineFailed(error: unknown): void {
    if (error instanceof Uncompilable) {
      const { name, message, line } = error;
      this.#end({ type: "fail", id: this.id, name, message, ...(line !== undefined && { line }) });
    } else if (error instanceof Stopped) return;
    else if (error instanceof Exhausted) this.#end(this.#limitFrame(error.limit));
    else this.#end({ type: "fail", id: this.id, name: "InternalError", message: "the engine failed" });
  }

  /**
   * A successful run ends after its last call, even if the code does not await it. A failed run ends at once.
   */
  #endIfOver(): void {
    const over = this.#over;
    if (over && (over.type === "fail" || this.#inFlight === 0)) this.#end(over);
  }

  #checkTime(): void {
    const now = performance.now();
    const limit = this.#time.exceeded(now);
    if (limit) this.#over = this.#limitFrame(limit);
    else if (this.#time.takeHeartbeat(now)) {
      this.#parts.send({ type: "heartbeat", id: this.id });
      if (this.#parts.exceedsMemory(this)) this.#over = this.#limitFrame("memoryBytes");
    }
    if (this.#over?.type === "fail") throw new Stopped();
  }

  #onTimeout(): void {
    const over = this.#over;
    if (over?.type !== "done") return this.#end(this.#limitFrame("wallMs"));
    this.#reports.log("warn", `${this.#inFlight} calls without await did not end in time.`);
    this.#end(over);
  }

  #limitFrame(limit: LimitName): Extract<FromHost, { type: "fail" }> {
    return { type: "fail", id: this.id, name: "SandboxLimit", message: limit, limit };
  }

  #end(frame: FromHost): void {
    if (this.#ended) return;
    if (frame.type === "done" || !("limit" in frame)) this.#flush();
    this.#ended = true;
    this.#time.end();
    this.#timers.end();
    this.#reports.end();
    this.#engine.dispose();
    this.#parts.send(frame);
    this.#parts.ended();
  }

  #flush(): void {
    this.#time.enterLast();
    try {
      this.#engine.flushRejections();
    } catch {
      // The end of the run is known already.
    }
  }

  #bridge(op: string, a: string, b: string, c: string): string {
    if (this.#ended) return "";
    // The engine checks the time only after a number of steps, and one step can take long.
    if (this.#time.mayBeExceeded) this.#checkTime();
    switch (op) {
      case "call":
        return this.#call(a, b, c);
      case "log":
        this.#reports.log(a as LogLine["level"], b);
        return "";
      case "progress":
        this.#reports.progress(a);
        return "";
      case "timer":
        return this.#timers.set(Number(a), b);
      case "untimer":
        this.#timers.clear(a);
        return "";
      case "url":
        if (a.length + b.length > LONGEST_URL) return "";
        return urlParts(() => (c === "" ? new URL(a) : new URL(a, b)));
      case "url-set":
        if (a.length + c.length > LONGEST_URL) return "";
        return urlParts(() => Object.assign(new URL(a), { [b]: c }));
      case "integers":
        return markIntegers(a);
      case "random":
        return randomHex(Number(a));
      case "done":
        return this.#done(a);
      case "fail":
        this.#over ??= this.#failure(a);
        setImmediate(() => this.#endIfOver());
        return "";
      case "rejected":
        this.#reports.log("error", `Uncaught ${describeThrown(thrownOf(a))}`);
        return "";
      default:
        return "";
    }
  }

  /**
   * Returns the id of the call, or an empty string if too many are in flight; then the guest tries again
   * later.
   */
  #call(server: string, tool: string, args: string): string {
    const { calls, callsInFlight, argsBytes } = this.#limits;
    if (this.#inFlight >= callsInFlight) return "";
    const callId = ++this.#lastCall;
    if (server.length > LONGEST_NAME || tool.length > LONGEST_NAME)
      this.#refuse(callId, `names of servers and tools have at most ${LONGEST_NAME} characters`);
    else if (callId > calls) this.#refuse(callId, `a run may make at most ${calls} calls`, "calls");
    else if (Buffer.byteLength(args) > argsBytes)
      this.#refuse(
        callId,
        `the arguments of a call may have at most ${argsBytes} bytes of JSON`,
        "argsBytes",
      );
    else {
      this.#inFlight++;
      this.#parts.send({ type: "call", id: this.id, callId, server, tool, args });
    }
    return String(callId);
  }

  /** Asynchronous, like every other answer. */
  #refuse(callId: number, message: string, limit?: LimitName): void {
    const value = JSON.stringify({
      name: "ToolError",
      message: `sandbox_limit: ${message}`,
      code: "sandbox_limit",
      limit,
    });
    setImmediate(() => this.#enter(() => this.#engine.control("settle", String(callId), "", value)));
  }

  #done(value: string): string {
    const tooLong = Buffer.byteLength(value) > this.#limits.valueBytes;
    if (tooLong) this.#over ??= this.#limitFrame("valueBytes");
    else this.#over ??= { type: "done", id: this.id, ...(value !== "" && { value }) };
    // An engine that runs its jobs by itself reports the end outside of `#enter`.
    setImmediate(() => this.#endIfOver());
    return "";
  }

  #failure(json: string): FromHost {
    const { name, message, line, limit, stack } = thrownOf(json);
    if (name === "InternalError" && message === "out of memory") return this.#limitFrame("memoryBytes");
    if (limit !== undefined && Object.hasOwn(this.#limits, limit))
      return { ...this.#limitFrame(limit as LimitName), ...(line && { line }) };
    const callee = message === NOT_A_FUNCTION ? calleeIn(this.#engine.script, stack) : undefined;
    return {
      type: "fail",
      id: this.id,
      name: name.slice(0, 200),
      message: callee === undefined ? message.slice(0, LONGEST_MESSAGE) : `${callee} is ${NOT_A_FUNCTION}`,
      ...(line && { line }),
    };
  }
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(Math.min(bytes || 0, MOST_RANDOM)));
  return Buffer.from(random).toString("hex");
}

/** Reads the thrown error that the guest reported. */
function thrownOf(json: string): Thrown & { line: number | undefined } {
  const thrown = JSON.parse(json) as Thrown;
  return { ...thrown, line: lineIn(thrown.stack) };
}

function describeThrown({ name, message, line }: ReturnType<typeof thrownOf>): string {
  return `${name ? `${name}: ` : ""}${message}${line ? ` (line ${line})` : ""}`;
}
