/** One run inside the host: keeps its limits, carries its calls, and says how it ended, exactly once. */
// The code may have put its own in the place of the global one, where it runs in this very process.
import { setImmediate } from "node:timers";
import type { LimitName, Limits, LogLine } from "../executor.ts";
import type { FromHost, ResultFrame, ToHost } from "../frames.ts";
import { calleeIn } from "./callee.ts";
import { type EngineHooks, Exhausted, lineIn, type ScriptEngine, Stopped, Uncompilable } from "./engine.ts";
import type { Thrown } from "./guest/guest.ts";
import { GuestTimers } from "./guest-timers.ts";
import { Reports } from "./reports.ts";
import { TimeBudget } from "./time-budget.ts";
import { LONGEST_URL, urlParts } from "./url-parts.ts";

const LONGEST_NAME = 1_000;
const LONGEST_TOLD = 16_000;
/** All that one of the engines says. */
const NO_FUNCTION = "not a function";

export type Exec = Extract<ToHost, { type: "exec" }>;

export interface RunParts {
  readonly send: (frame: FromHost) => void;
  readonly engine: (hooks: EngineHooks) => ScriptEngine;
  /** The run is over and its engine gone. */
  readonly ended: () => void;
  /** All runs of this host together use more memory than they may, and this one the most. */
  readonly crowded: (run: HostRun) => boolean;
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
  /** Set from inside of the engine, looked at when it is left. */
  #over: FromHost | undefined;
  #ended = false;

  constructor(exec: Exec, parts: RunParts) {
    this.id = exec.id;
    this.#limits = exec.limits;
    this.#parts = parts;
    this.#code = exec.code;
    this.#reports = new Reports(exec.id, exec.limits.logBytes, parts.send);
    this.#time = new TimeBudget(exec.limits, () => this.#timeIsUp());
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

  /** Most code that is no JavaScript is TypeScript. */
  async #beginTyped(problem: Uncompilable): Promise<void> {
    const plain = await import("./strip-types.ts")
      .then(({ stripTypes }) => stripTypes(this.#code, problem))
      .catch(() => problem);
    this.#enter(() => {
      const left = typeof plain === "string" ? this.#engine.start(plain) : plain;
      if (left) throw left;
    });
  }

  get memoryBytes(): number {
    return this.#engine.memoryBytes;
  }

  settled({ callId, ok, value }: ResultFrame): void {
    this.#inFlight--;
    this.#enter(() => this.#engine.control("settle", String(callId), ok ? "ok" : "", value));
  }

  cancel(): void {
    this.#end({ type: "fail", id: this.id, name: "Cancelled", message: "cancelled" });
  }

  hold(held: boolean): void {
    if (!this.#ended) this.#time.hold(held);
  }

  outgrown(): void {
    this.#end(this.#beyond("memoryBytes"));
  }

  /** Every step of the guest happens in here. */
  #enter(step: () => void): void {
    if (this.#ended) return;
    this.#time.enter();
    let done = true;
    try {
      step();
      done = this.#engine.pump();
    } catch (error) {
      this.#gaveOut(error);
    }
    this.#time.leave();
    if (done) this.#look();
    else setImmediate(() => this.#look());
  }

  #gaveOut(error: unknown): void {
    if (error instanceof Uncompilable) {
      const { name, message, line } = error;
      this.#end({ type: "fail", id: this.id, name, message, ...(line !== undefined && { line }) });
    } else if (error instanceof Stopped) return;
    else if (error instanceof Exhausted) this.#end(this.#beyond(error.limit));
    else this.#end({ type: "fail", id: this.id, name: "InternalError", message: "the engine failed" });
  }

  /** Calls that nobody awaits are waited for; after a failure nothing is. */
  #look(): void {
    const over = this.#over;
    if (over && (over.type === "fail" || this.#inFlight === 0)) this.#end(over);
  }

  #checkTime(): void {
    const now = performance.now();
    const limit = this.#time.exceeded(now);
    if (limit) this.#over = this.#beyond(limit);
    else if (this.#time.beats(now)) {
      this.#parts.send({ type: "heartbeat", id: this.id });
      if (this.#parts.crowded(this)) this.#over = this.#beyond("memoryBytes");
    }
    if (this.#over?.type === "fail") throw new Stopped();
  }

  #timeIsUp(): void {
    const over = this.#over;
    if (over?.type !== "done") return this.#end(this.#beyond("wallMs"));
    this.#reports.log("warn", `${this.#inFlight} calls without await did not end in time.`);
    this.#end(over);
  }

  #beyond(limit: LimitName): Extract<FromHost, { type: "fail" }> {
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
      // How it ended is known already.
    }
  }

  #bridge(op: string, a: string, b: string, c: string): string {
    if (this.#ended) return "";
    // The engine asks only after so many steps, and a step can be long.
    if (this.#time.doubtful) this.#checkTime();
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
      case "done":
        return this.#done(a);
      case "fail":
        this.#over ??= this.#failure(a);
        setImmediate(() => this.#look());
        return "";
      case "rejected":
        this.#reports.log("error", `Uncaught ${spoken(thrownOf(a))}`);
        return "";
      default:
        return "";
    }
  }

  /** Empty: not yet. */
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

  /** Later, as every other answer. */
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
    if (tooLong) this.#over ??= this.#beyond("valueBytes");
    else this.#over ??= { type: "done", id: this.id, ...(value !== "" && { value }) };
    // An engine that runs what is due by itself tells of its end when nobody waits for it.
    setImmediate(() => this.#look());
    return "";
  }

  #failure(json: string): FromHost {
    const { name, message, line, limit, stack } = thrownOf(json);
    if (name === "InternalError" && message === "out of memory") return this.#beyond("memoryBytes");
    if (limit !== undefined && Object.hasOwn(this.#limits, limit))
      return { ...this.#beyond(limit as LimitName), ...(line && { line }) };
    const callee = message === NO_FUNCTION ? calleeIn(this.#engine.script, stack) : undefined;
    return {
      type: "fail",
      id: this.id,
      name: name.slice(0, 200),
      message: callee === undefined ? message.slice(0, LONGEST_TOLD) : `${callee} is ${NO_FUNCTION}`,
      ...(line && { line }),
    };
  }
}

/** What the code threw, as the guest tells it. */
function thrownOf(json: string): Thrown & { line: number | undefined } {
  const thrown = JSON.parse(json) as Thrown;
  return { ...thrown, line: lineIn(thrown.stack) };
}

function spoken({ name, message, line }: ReturnType<typeof thrownOf>): string {
  return `${name ? `${name}: ` : ""}${message}${line ? ` (line ${line})` : ""}`;
}
