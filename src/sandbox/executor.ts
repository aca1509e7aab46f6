/** Running a stranger's code: the contract of every backend. It decides nothing about calls: each is handed to whoever asked for the run. */
import type { Signal } from "../kernel/signal.ts";

export interface Limits {
  /** The whole run, waiting included. */
  readonly wallMs: number;
  /** One stretch of computing without waiting for anything. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly calls: number;
  readonly callsInFlight: number;
  /** JSON of the arguments of one call. */
  readonly argsBytes: number;
  /** JSON of what one call gives back. */
  readonly resultBytes: number;
  /** JSON of the value of the run. */
  readonly valueBytes: number;
  readonly logBytes: number;
  readonly codeBytes: number;
}

export type LimitName = keyof Limits;

export const LIMITS: Limits = {
  wallMs: 30_000,
  cpuMs: 2_000,
  memoryBytes: 64 << 20,
  stackBytes: 256 << 10,
  calls: 100,
  callsInFlight: 16,
  argsBytes: 1 << 20,
  resultBytes: 4 << 20,
  valueBytes: 1 << 20,
  logBytes: 64 << 10,
  codeBytes: 256 << 10,
};

/** Kept from outside, wherever the code runs. How much it takes of memory and stack is known inside alone. */
export const LIMITS_FROM_OUTSIDE = (Object.keys(LIMITS) as LimitName[]).filter(
  (limit) => limit !== "memoryBytes" && limit !== "stackBytes",
);

/** A call on its way out of the sandbox. Nothing in it may be believed. */
export interface OutCall {
  readonly server: string;
  readonly tool: string;
  /** JSON of an object, on one line. */
  readonly args: string;
  readonly signal: Signal;
  /** Time stands still for the run until what it returns is called: somebody is being asked. */
  readonly hold: () => () => void;
}

export interface RunProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** By server. */
export type ToolNames = Readonly<Record<string, readonly string[]>>;

export interface CodeRun {
  readonly code: string;
  /** The names that `servers` and `tools` show. */
  readonly servers: readonly string[];
  /** What `tools.server` shows, of those that are known. */
  readonly tools?: ToolNames | undefined;
  readonly limits: Limits;
  /** Whose code it is. Strangers are kept apart where there is room. */
  readonly principal: string;
  readonly signal: Signal;
  /** JSON of the result. A rejection reaches the code as an error with name, message and code. */
  call(call: OutCall): Promise<string>;
  progress?(progress: RunProgress): void;
}

export interface LogLine {
  readonly level: "log" | "info" | "debug" | "warn" | "error";
  readonly text: string;
}

/** One call that was made, in the order of the making. */
export interface CallRecord {
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  /** The code of the error, where it failed. */
  readonly error?: string;
}

export interface Failure {
  /** `execution_failed`: the code itself threw or cannot be read. */
  readonly code:
    | "execution_failed"
    | "sandbox_limit"
    | "sandbox_terminated"
    | "cancelled"
    | "no_backends"
    /** Too many are under way; it has not begun. */
    | "pool_exhausted"
    | "internal";
  readonly message: string;
  /** Of the error that was thrown. */
  readonly name?: string;
  /** In the code as it was given. */
  readonly line?: number;
  readonly limit?: LimitName;
}

export interface Outcome {
  /** JSON; undefined where the code gave no value or failed. */
  readonly value: string | undefined;
  readonly error: Failure | undefined;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  readonly durationMs: number;
  readonly backend: string;
  /** What was really held to in this run. */
  readonly enforced: readonly LimitName[];
  /** The code could have reached everything that this user can. */
  readonly unsafe: boolean;
}

export interface Executor {
  /** Never rejects: what goes wrong is in the outcome. */
  run(run: CodeRun): Promise<Outcome>;
  /** Ends everything it has started; runs under way end as `sandbox_terminated`. */
  close(): Promise<void>;
  /** The same, blocking: for a process that can wait for nothing any more. */
  killNow(): void;
}
