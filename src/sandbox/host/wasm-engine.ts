/** QuickJS in WebAssembly: one instance with a memory of its own per run, never used twice. No error object of the host enters it, and nothing but strings leaves it. */
import { EvalFlags, type JSException, type JSValueHandle, QuickJS } from "quickjs-wasi";
import type { Limits } from "../executor.ts";
import { asFunction } from "./completion.ts";
import { type Control, type Engine, type EngineHooks, Exhausted, lineIn, Uncompilable } from "./engine.ts";
import { guestSource } from "./guest/source.ts";

/** WASI's "bad file descriptor": the engine has nothing to write to. */
const NO_FILE = 8;
const MOST_REJECTIONS = 20;

/** The same for all instances of this process. */
let prelude: Uint8Array | undefined;

/** What a waiting instance lacks until a run takes it. */
const IDLE: EngineHooks = { bridge: () => "", interrupted: () => false };

export class WasmEngine implements Engine {
  readonly #vm: QuickJS;
  #hooks = IDLE;
  #controls: ReadonlyMap<string, JSValueHandle> = new Map();
  readonly #unhandled = new Map<number, JSValueHandle>();

  static async create(wasm: WebAssembly.Module, limits: Limits): Promise<WasmEngine> {
    let engine: WasmEngine | undefined;
    const vm = await QuickJS.create({
      wasm,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      interruptHandler: () => engine?.hooks.interrupted() ?? false,
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

  start(code: string): Uncompilable | undefined {
    try {
      this.#watch(this.#vm.evalCode(code, "code", EvalFlags.ASYNC), "boxed");
      return undefined;
    } catch (error) {
      const problem = this.#uncompilable(error);
      // It ran, and was stopped before it first waited.
      if (this.#hooks.interrupted()) return undefined;
      // Neither `return` nor `using` may stand at the top of a script.
      const script = asFunction(code, (piece) => this.#compiles(piece));
      if (script === undefined) return problem;
      this.#watch(this.#vm.evalCode(script, "code"), "");
      return undefined;
    }
  }

  #compiles(script: string): boolean {
    try {
      this.#vm.evalCode(script, "code", EvalFlags.COMPILE_ONLY).dispose();
      return true;
    } catch (error) {
      this.#uncompilable(error);
      return false;
    }
  }

  /** Only the parser throws here: what the code throws rejects its promise. */
  #uncompilable(error: unknown): Uncompilable {
    if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError)
      throw new Exhausted("stackBytes");
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
      for (const arg of args) arg.dispose();
    }
  }

  /** An exception of the guest is not looked at: that would run its code. */
  #gaveOut(error: unknown): void {
    if (error instanceof RangeError) throw new Exhausted("stackBytes");
    if (error instanceof WebAssembly.RuntimeError) throw new Exhausted("memoryBytes");
    (error as Partial<JSException>).dispose?.();
  }

  pump(): boolean {
    const engine = this.#vm._getExports();
    try {
      while (engine.qjs_is_job_pending() && !this.#hooks.interrupted()) {
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
    for (const reason of reasons) this.#call("rejected", [reason]);
  }

  /** Must not throw: the library would copy the host's stack into the guest. */
  #bridge(args: readonly JSValueHandle[]): JSValueHandle {
    try {
      if (args.length !== 4 || !args.every((arg) => arg.isString)) return this.#vm.undefined;
      const [op = "", a = "", b = "", c = ""] = args.map((arg) => arg.toString());
      return this.#vm.newString(this.#hooks.bridge(op, a, b, c));
    } catch {
      return this.#vm.undefined;
    }
  }

  dispose(): void {
    this.#hooks = IDLE;
    this.#unhandled.clear();
    this.#vm.dispose();
  }
}
