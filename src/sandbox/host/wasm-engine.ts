/**
 * QuickJS in WebAssembly. Each run gets an instance with its own memory, which is used only once. No error
 * object of the host enters an instance, and only strings leave it.
 */
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

/** WASI's "bad file descriptor". The engine has no files to write to. */
const BAD_FILE = 8;
const MAX_REJECTIONS = 20;
/** The parser's error for a top-level `return`. That is allowed here, and the error hides a later one. */
const TOP_LEVEL_RETURN = /^return not in a function/;

/** Bytecode of the guest, shared by all instances of this process. */
let prelude: Uint8Array | undefined;

/** The hooks of an instance that no run uses yet. */
const IDLE: EngineHooks = { bridge: () => "", checkTime: () => {}, isOver: () => false };

export class WasmEngine implements ScriptEngine {
  readonly #vm: QuickJS;
  #hooks = IDLE;
  #script = "";
  #controls: ReadonlyMap<string, JSValueHandle> = new Map();
  readonly #unhandled = new Map<number, JSValueHandle>();
  /**
   * The engine was left in the middle of an operation. It must not run or dispose anything; its memory is
   * freed with the instance.
   */
  #torn = false;

  static async create(wasm: WebAssembly.Module, limits: Limits): Promise<WasmEngine> {
    let engine: WasmEngine | undefined;
    const vm = await QuickJS.create({
      wasm,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      // Never true: the interrupt of QuickJS itself can be caught by promises. `checkTime` throws instead.
      interruptHandler: () => {
        engine?.hooks.checkTime();
        return false;
      },
      onUnhandledRejection: (promise, reason, isHandled) => engine?.rejection(promise, reason, isHandled),
      wasi: () => ({ fd_write: () => BAD_FILE }),
    });
    engine = new WasmEngine(vm);
    return engine;
  }

  private constructor(vm: QuickJS) {
    this.#vm = vm;
    const bridge = vm.newFunction("bridge", (...args) => this.#bridge(args));
    // Bytecode is trusted by QuickJS, so only bytecode that was compiled here is loaded.
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

  /** Assigns the engine to a run. */
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
      // `return` and `using` are syntax errors at the top level of a script.
      const script = asFunction(code, (piece) => this.#compiles(piece));
      if (script === undefined)
        return (TOP_LEVEL_RETURN.test(problem.message) && this.#problemIn(asBody(code))) || problem;
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

  /** Converts an exception of the parser. Code that throws rejects its promise instead. */
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
      this.#discard(error);
    } finally {
      if (!this.#torn) for (const arg of args) arg.dispose();
    }
  }

  /** Disposes an exception of the guest without reading it, because that would run code of the guest. */
  #discard(error: unknown): void {
    this.#escalate(error, "memoryBytes");
    (error as Partial<JSException>).dispose?.();
  }

  /**
   * Throws if the error came from the engine itself and not from the code. `trapLimit` is the limit to report
   * for a WebAssembly trap.
   */
  #escalate(error: unknown, trapLimit: "stackBytes" | "memoryBytes"): void {
    const stopped = error instanceof Stopped;
    const overflown = error instanceof RangeError;
    this.#torn ||= stopped || overflown || error instanceof WebAssembly.RuntimeError;
    if (stopped) throw error;
    if (this.#torn) throw new Exhausted(overflown ? "stackBytes" : trapLimit);
  }

  pump(): boolean {
    const engine = this.#vm._getExports();
    try {
      while (engine.qjs_is_job_pending() && !this.#hooks.isOver()) {
        this.#hooks.checkTime();
        if (engine.qjs_execute_pending_job() < 0) this.#vm.getException().dispose();
      }
    } catch (error) {
      this.#discard(error);
    }
    return true;
  }

  rejection(promise: JSValueHandle, reason: JSValueHandle, isHandled: boolean): void {
    const { identity } = promise;
    if (isHandled) {
      this.#unhandled.get(identity)?.dispose();
      this.#unhandled.delete(identity);
    } else if (this.#unhandled.size < MAX_REJECTIONS) this.#unhandled.set(identity, reason.dup());
  }

  flushRejections(): void {
    const reasons = [...this.#unhandled.values()];
    this.#unhandled.clear();
    for (const reason of reasons) if (!this.#torn) this.#call("rejected", [reason]);
  }

  /**
   * Throws no error with a message, because quickjs-wasi would copy it into the guest with the stack of the
   * host.
   */
  #bridge(args: readonly JSValueHandle[]): JSValueHandle {
    try {
      if (args.length !== 4 || !args.every((arg) => arg.isString)) return this.#vm.undefined;
      const [op = "", a = "", b = "", c = ""] = args.map((arg) => arg.toString());
      return this.#vm.newString(this.#hooks.bridge(op, a, b, c));
    } catch (error) {
      if (error instanceof Stopped) throw throwingOnToString(error);
      return this.#vm.undefined;
    }
  }

  dispose(): void {
    this.#hooks = IDLE;
    this.#unhandled.clear();
    if (!this.#torn) this.#vm.dispose();
  }
}

/** A value that throws `error` when quickjs-wasi converts it to a string. */
function throwingOnToString(error: Stopped): unknown {
  return {
    toString(): string {
      throw error;
    },
  };
}
