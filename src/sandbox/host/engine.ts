/** What the host needs of an engine that runs one stranger's code, once. */
import type { Bridge, Controls } from "./guest/guest.ts";

export interface EngineHooks {
  readonly bridge: Bridge;
  /** Asked every now and then while code runs; throws `Stopped` where it must stop. */
  readonly checkTime: () => void;
  /** The run is over: nothing more of it is to be run. */
  readonly isOver: () => boolean;
}

export type Control = Exclude<keyof Controls, "watch" | "rejected">;

export interface ScriptEngine {
  /** Starts the code if it compiles, else says what is wrong with it. */
  start(code: string): Uncompilable | undefined;
  control(name: Control, ...texts: readonly string[]): void;
  /** Runs what became due until nothing is; false where that happens by itself, but only after the step. */
  pump(): boolean;
  /** Tells the bridge of rejections that nobody caught. */
  flushRejections(): void;
  /** As it was run: stacks name places in it. */
  readonly script: string;
  readonly memoryBytes: number;
  dispose(): void;
}

/** The code is no JavaScript and no TypeScript. */
export class Uncompilable extends Error {
  override readonly name = "SyntaxError";
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.line = line;
  }
}

/** Goes through the engine as nothing of its own does: no code can catch it, and what it went through is never used again. */
export class Stopped extends Error {}

/** The engine itself gave out: the run is over, whatever the code would say to that. */
export class Exhausted extends Error {
  readonly limit: "stackBytes" | "memoryBytes";

  constructor(limit: "stackBytes" | "memoryBytes") {
    super(limit);
    this.limit = limit;
  }
}

/** The line of the code in a stack of the engine. */
export function lineIn(stack: string): number | undefined {
  const found = /\bcode(?:\.js)?:(\d+)/.exec(stack);
  return found ? Number(found[1]) : undefined;
}
