/** QuickJS in WebAssembly: one instance with a memory of its own per run, never used twice. No error object of the host enters it, and nothing but strings leaves it. */
import { EvalFlags, type JSException, type JSValueHandle, QuickJS } from "quickjs-wasi";
import type { Limits } from "../executor.ts";
import { asBody, asFunction } from "./completion.ts";
import {
  type Control,
  type EngineHooks,
  Exhausted,
  lineIn,
  type ScriptEngine,
  Stopped,
  Uncompilable,
} from "./engine.ts";
import { guestSource } from "./guest/source.ts";

/** WASI's "bad file descriptor": the engine has nothing to write to. */
const NO_FILE = 8;
const MOST_REJECTIONS = 20;
/** What the parser says of a `return` at the top, which is well, instead of what is wrong further down. */
const EARLY = /^return not in a function/;

/** The same for all instances of this process. */
let prelude: Uint8Array | undefined;

/** What a waiting instance lacks until a run takes it. */
const IDLE: EngineHooks = { bridge: () => "", checkTime: () => {}, isOver: () => false };

export class WasmEngine implements ScriptEngine {
  readonly #vm: QuickJS;
  #hooks = IDLE;
  #script = "";
  #controls: ReadonlyMap<string, JSValueHandle> = new Map();
  readonly #unhandled = new Map<number, JSValueHandle>();
  /** It was left in the midst of something: nothing in it may be run or taken apart any more. Its memory goes with it. */
  #torn = false;

  static async create(wasm: WebAssembly.Module, limits: Limits): Promise<WasmEngine> {
    let engine: WasmEngine | undefined;
    const vm = await QuickJS.create({
      wasm,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      // The engine's own way to stop is no way: it ends in whatever catches, and promises do.
      interruptHandler: () => {
        engine?.hooks.checkTime();
        return false;
      },
      onUnhandledRejection: (promise, reason, isHandled) => engine?.rejection(promise, reason, isHandled),
      wasi: () => ({ fd_write: () => NO_FILE }),
    });
    engine = new WasmEngine(vm);
    return engine;
  }

  private constructor(vm: QuickJS) {
    this.#vm = vm;
    const bridge = vm.newFunction("bridge", (...args) => this.#bridge(args));
    // Ours, compiled here: bytecode of anybody else is never loaded.
    prelude ??= vm.compile(guestSource(), "metamcp");
    const install = vm.evalBytecode(prelude);
    const controls = vm.callFunction(install, vm.undefined, bridge);
    const names = ["begin", "settle", "fire", "watch", "rejected"];
    this.#controls = new Map(names.map((name) => [name, controls.getProp(name)]));
  }

  get hooks(): EngineHooks {
    return this.#hooks;
  }

  get memoryBytes(): number {
    return this.#vm._getMemory().buffer.byteLength;
  }

  /** From here on it belongs to a run. */
  take(hooks: EngineHooks): void {
    this.#hooks = hooks;
  }

  get script(): string {
    return this.#script;
  }

  start(code: string): Uncompilable | undefined {
    this.#script = code;
    try {
      this.#watch(this.#vm.evalCode(code, "code", EvalFlags.ASYNC), "boxed");
      return undefined;
    } catch (error) {
      const problem = this.#uncompilable(error);
      // Neither `return` nor `using` may stand at the top of a script.
      const script = asFunction(code, (piece) => this.#compiles(piece));
      if (script === undefined)
        return (EARLY.test(problem.message) && this.#problemIn(asBody(code))) || problem;
      this.#script = script;
      this.#watch(this.#vm.evalCode(script, "code"), "");
      return undefined;
    }
  }

  #compiles(script: string): boolean {
    return this.#problemIn(script) === undefined;
  }

  #problemIn(script: string): Uncompilable | undefined {
    try {
      this.#vm.evalCode(script, "code", EvalFlags.COMPILE_ONLY).dispose();
      return undefined;
    } catch (error) {
      return this.#uncompilable(error);
    }
  }

  /** Only the parser throws here: what the code throws rejects its promise. */
  #uncompilable(error: unknown): Uncompilable {
    this.#escalate(error, "stackBytes");
    const { message, stack = "" } = error as JSException;
    const problem = new Uncompilable(message, lineIn(stack));
    (error as JSException).dispose?.();
    return problem;
  }

  #watch(promise: JSValueHandle, boxed: string): void {
    this.#call("watch", [promise, this.#vm.newString(boxed)]);
  }

  control(name: Control, ...texts: readonly string[]): void {
    let args: JSValueHandle[];
    try {
      args = texts.map((text) => this.#vm.newString(text));
    } catch {
      throw new Exhausted("memoryBytes");
    }
    this.#call(name, args);
  }

  #call(name: string, args: readonly JSValueHandle[]): void {
    const control = this.#controls.get(name) as JSValueHandle;
    try {
      this.#vm.callFunction(control, this.#vm.undefined, ...args).dispose();
    } catch (error) {
      this.#gaveOut(error);
    } finally {
      if (!this.#torn) for (const arg of args) arg.dispose();
    }
  }

  /** An exception of the guest is not looked at: that would run its code. */
  #gaveOut(error: unknown): void {
    this.#escalate(error, "memoryBytes");
    (error as Partial<JSException>).dispose?.();
  }

  /** What did not come from the code but from the engine itself. */
  #escalate(error: unknown, trapped: "stackBytes" | "memoryBytes"): void {
    const stopped = error instanceof Stopped;
    const overflown = error instanceof RangeError;
    this.#torn ||= stopped || overflown || error instanceof WebAssembly.RuntimeError;
    if (stopped) throw error;
    if (this.#torn) throw new Exhausted(overflown ? "stackBytes" : trapped);
  }

  pump(): boolean {
    const engine = this.#vm._getExports();
    try {
      while (engine.qjs_is_job_pending() && !this.#hooks.isOver()) {
        this.#hooks.checkTime();
        if (engine.qjs_execute_pending_job() < 0) this.#vm.getException().dispose();
      }
    } catch (error) {
      this.#gaveOut(error);
    }
    return true;
  }

  rejection(promise: JSValueHandle, reason: JSValueHandle, isHandled: boolean): void {
    const { identity } = promise;
    if (isHandled) {
      this.#unhandled.get(identity)?.dispose();
      this.#unhandled.delete(identity);
    } else if (this.#unhandled.size < MOST_REJECTIONS) this.#unhandled.set(identity, reason.dup());
  }

  flushRejections(): void {
    const reasons = [...this.#unhandled.values()];
    this.#unhandled.clear();
    for (const reason of reasons) if (!this.#torn) this.#call("rejected", [reason]);
  }

  /** Throws nothing that has a text: the library would copy it into the guest, with the host's stack. */
  #bridge(args: readonly JSValueHandle[]): JSValueHandle {
    try {
      if (args.length !== 4 || !args.every((arg) => arg.isString)) return this.#vm.undefined;
      const [op = "", a = "", b = "", c = ""] = args.map((arg) => arg.toString());
      return this.#vm.newString(this.#hooks.bridge(op, a, b, c));
    } catch (error) {
      if (error instanceof Stopped) throw textless(error);
      return this.#vm.undefined;
    }
  }

  dispose(): void {
    this.#hooks = IDLE;
    this.#unhandled.clear();
    if (!this.#torn) this.#vm.dispose();
  }
}

/** Whoever makes a text of it to throw that instead throws this error. */
function textless(error: Stopped): unknown {
  return {
    toString(): string {
      throw error;
    },
  };
}
