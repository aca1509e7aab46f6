/**
 * The interface of every backend that runs untrusted code. A backend does not check tool calls; it passes
 * each one to `CodeRun.call`.
 */
import type { Signal } from "../kernel/signal.ts";

export interface Limits {
  /** Duration of the whole run, including waiting. */
  readonly wallMs: number;
  /** CPU time of one stretch of computing without an `await`. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly calls: number;
  readonly callsInFlight: number;
  /** JSON of the arguments of one call. */
  readonly argsBytes: number;
  /** JSON of the result of one call. */
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

/**
 * The limits that every backend can enforce from outside the engine. Memory and stack can be measured only
 * inside.
 */
export const LIMITS_FROM_OUTSIDE = (Object.keys(LIMITS) as LimitName[]).filter(
  (limit) => limit !== "memoryBytes" && limit !== "stackBytes",
);

/** A tool call made by the code. All of its content is untrusted. */
export interface OutCall {
  readonly server: string;
  readonly tool: string;
  /** JSON of an object, in one line. */
  readonly args: string;
  readonly signal: Signal;
  /**
   * Pauses the time limits of the run while a person or a model is asked. The returned function resumes them.
   */
  readonly hold: () => () => void;
}

export interface RunProgress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}

/** Names of tools by server. */
export type ToolNames = Readonly<Record<string, readonly string[]>>;

export interface CodeRun {
  readonly code: string;
  /** The names that the globals `servers` and `tools` list. */
  readonly servers: readonly string[];
  /** The names that `tools.<server>` lists, for servers whose tools are known. */
  readonly tools?: ToolNames | undefined;
  readonly limits: Limits;
  /**
   * The owner of the code. Different principals get different host processes while the limit of hosts allows
   * it.
   */
  readonly principal: string;
  readonly signal: Signal;
  /** Returns the result as JSON. A rejection reaches the code as an error with name, message and code. */
  call(call: OutCall): Promise<string>;
  progress?(progress: RunProgress): void;
}

export interface LogLine {
  readonly level: "log" | "info" | "debug" | "warn" | "error";
  readonly text: string;
}

/** One call that the code made. */
export interface CallRecord {
  readonly server: string;
  readonly tool: string;
  readonly ms: number;
  /** The error code of a failed call. */
  readonly error?: string;
}

export interface Failure {
  /** `execution_failed`: the code threw or does not compile. */
  readonly code:
    | "execution_failed"
    | "sandbox_limit"
    | "sandbox_terminated"
    | "cancelled"
    | "no_backends"
    /** Too many runs are active. The code was not started. */
    | "pool_exhausted"
    | "internal";
  readonly message: string;
  /** Name of the thrown error. */
  readonly name?: string;
  /** Line in the submitted code. */
  readonly line?: number;
  readonly limit?: LimitName;
}

export interface Outcome {
  /** JSON. Undefined if the code returned no value or failed. */
  readonly value: string | undefined;
  readonly error: Failure | undefined;
  readonly logs: readonly LogLine[];
  readonly calls: readonly CallRecord[];
  readonly durationMs: number;
  readonly backend: string;
  /** The limits that this backend enforces. */
  readonly enforced: readonly LimitName[];
  /** Whether the code had all rights of the user that runs MetaMCP. */
  readonly unsafe: boolean;
}

export interface Executor {
  /** Never rejects; failures are in the outcome. */
  run(run: CodeRun): Promise<Outcome>;
  /** Ends all processes. Active runs end as `sandbox_terminated`. */
  close(): Promise<void>;
  /** Synchronous `close`, for a process that exits and cannot wait. */
  killNow(): void;
}
