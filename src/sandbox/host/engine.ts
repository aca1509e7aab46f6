/** The interface of a JavaScript engine in the host. An engine runs the code of one run, once. */
import type { Bridge } from "./guest/bridge.ts";
import type { Controls } from "./guest/guest.ts";

export interface EngineHooks {
  readonly bridge: Bridge;
  /** Called regularly while code runs. Throws `Stopped` if the code must stop. */
  readonly checkTime: () => void;
  /** Whether the run has failed. Then no more of its code may run. */
  readonly isOver: () => boolean;
}

export type Control = Exclude<keyof Controls, "watch" | "rejected">;

export interface ScriptEngine {
  /** Starts the code, or returns its syntax error. */
  start(code: string): Uncompilable | undefined;
  control(name: Control, ...texts: readonly string[]): void;
  /** Runs all pending jobs. False if the engine runs them by itself after the current step. */
  pump(): boolean;
  /** Reports unhandled rejections to the bridge. */
  flushRejections(): void;
  /** The code as it was evaluated. Positions in stacks refer to it. */
  readonly script: string;
  readonly memoryBytes: number;
  dispose(): void;
}

/** The code has a syntax error. */
export class Uncompilable extends Error {
  override readonly name = "SyntaxError";
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.line = line;
  }
}

/**
 * Thrown by the host through the engine, so that the code cannot catch it. The engine is not used again after
 * that.
 */
export class Stopped extends Error {}

/** The engine ran out of stack or memory. The run ends; the code cannot catch this. */
export class Exhausted extends Error {
  readonly limit: "stackBytes" | "memoryBytes";

  constructor(limit: "stackBytes" | "memoryBytes") {
    super(limit);
    this.limit = limit;
  }
}

/** Finds the line of the code in a stack. */
export function lineIn(stack: string): number | undefined {
  const found = /\bcode(?:\.js)?:(\d+)/.exec(stack);
  return found ? Number(found[1]) : undefined;
}
