/**
 * Runs the code in the host process itself, with all rights of the process. Not a sandbox: only for
 * containers and the `dev` profile.
 */
import { runInThisContext, Script } from "node:vm";
import { asFunction } from "./completion.ts";
import { type Control, type EngineHooks, lineIn, type ScriptEngine, Uncompilable } from "./engine.ts";
import type { Controls } from "./guest/guest.ts";
import { guestSource } from "./guest/source.ts";

export class NodeEngine implements ScriptEngine {
  readonly #controls: Controls;
  readonly #unhandled = new Map<Promise<unknown>, unknown>();
  readonly memoryBytes = 0;
  /** Not needed: V8 names the called expression itself. */
  readonly script = "";

  constructor({ bridge }: EngineHooks) {
    process.on("unhandledRejection", (reason, promise) => this.#unhandled.set(promise, reason));
    process.on("rejectionHandled", (promise) => this.#unhandled.delete(promise));
    process.on("uncaughtException", (error) => this.#controls.rejected(error));
    const install = runInThisContext(guestSource(true), { filename: "metamcp" }) as (
      bridge: unknown,
    ) => Controls;
    this.#controls = install(bridge);
  }

  start(code: string): Uncompilable | undefined {
    const script = asFunction(code, compiles);
    if (script === undefined) return problemOf(code);
    this.#controls.watch(runInThisContext(script, { filename: "code" }), "");
    return undefined;
  }

  control(name: Control, ...texts: readonly string[]): void {
    (this.#controls[name] as (...texts: readonly string[]) => void)(...texts);
  }

  /** Node runs pending jobs by itself. */
  pump(): boolean {
    return false;
  }

  flushRejections(): void {
    for (const reason of this.#unhandled.values()) this.#controls.rejected(reason);
    this.#unhandled.clear();
  }

  dispose(): void {}
}

function compiles(script: string): boolean {
  try {
    new Script(script);
    return true;
  } catch {
    return false;
  }
}

function problemOf(code: string): Uncompilable {
  try {
    new Script(`(async () => {${code}\n})()`, { filename: "code" });
    return new Uncompilable("the code cannot be read", undefined);
  } catch (error) {
    const { message, stack = "" } = error as Error;
    return new Uncompilable(message, lineIn(stack));
  }
}
