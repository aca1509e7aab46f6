/**
 * The globals of the code: `tools`, `servers`, timers and so on. The function is sent into the sandbox as
 * source text, so it must not refer to anything outside itself. It enforces nothing; host and gateway enforce
 * the limits.
 */

import type { Bridge } from "./bridge.ts";
import type { Results } from "./results.ts";
import type { Values } from "./values.ts";

export interface Controls {
  /** Sets the names that can be listed: JSON of the server names, and of the tool names by server. */
  begin(servers: string, tools: string): void;
  /** `ok`: empty for an error, `integers` if the JSON may have integers that a number cannot hold. */
  settle(callId: string, ok: string, json: string): void;
  fire(timer: string): void;
  /** Reports to the host how the promise ended. `boxed`: its value is an object `{value}`. */
  watch(main: unknown, boxed: string): void;
  rejected(reason: unknown): void;
}

/** A thrown error, as the guest reports it to the host. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The limit that the call would have exceeded. */
  readonly limit?: string | undefined;
}

/** The other parts of the guest. */
export interface GuestParts {
  readonly values: Values;
  readonly results: Results;
  readonly library: Record<string, unknown>;
}

export function guest(bridge: Bridge, { values, results, library }: GuestParts): Controls {
  const { inspect, toJson, stringifyExact, shapeOf, lazyObject } = values;
  const { received, valueIn, toolError } = results;
  const { parse, stringify } = JSON;
  const { apply, ownKeys } = Reflect;
  const { defineProperty, keys } = Object;
  const text = String;
  const then = Reflect.get(Promise.prototype, "then") as () => unknown;
  const Promised = Promise;
  let names: string[] = [];
  let toolsJson = "{}";

  // Calls.
  interface PendingCall {
    readonly server: string;
    readonly tool: string;
    readonly json: string;
    /** Created at the call, for its stack. */
    readonly callSite: Error;
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
  }
  const inFlight = new Map<string, PendingCall>();
  // In the guest, where memory is limited, and not in the host.
  const queue = new Map<number, PendingCall>();
  let queued = 0;
  let next = 0;

  function send(server: string, tool: string, args: unknown, callSite = new Error()): Promise<unknown> {
    return new Promised((resolve, reject) => {
      const json = args === undefined ? "{}" : stringifyExact(args);
      if (typeof json !== "string") throw new TypeError("The arguments of a tool must be an object");
      const call = { server: text(server), tool: text(tool), json, callSite, resolve, reject };
      if (next < queued || !sendNow(call)) queue.set(queued++, call);
    });
  }

  /** False if too many calls are in flight. */
  function sendNow(call: PendingCall): boolean {
    const id = bridge("call", call.server, call.tool, call.json);
    if (id !== "") inFlight.set(id, call);
    return id !== "";
  }

  function sendNext(): void {
    const call = queue.get(next);
    if (call && sendNow(call)) queue.delete(next++);
  }

  /** The last results, for the hint after a TypeError. */
  const lastShapes: string[] = [];

  function valueOfTool(result: unknown, name: string, callSite: Error): unknown {
    const value = valueIn(result, name, callSite);
    lastShapes.push(`${name} returned ${shapeOf(value)}`);
    if (lastShapes.length > 3) lastShapes.shift();
    return value;
  }

  /** The first member that was read of a promise of a tool, because of a missing `await`. */
  let notAwaited: string | undefined;
  const OF_PROMISES = ["then", "catch", "finally", "constructor", "toJSON", "toString", "valueOf"];

  /** A promise that notes if its value is used without `await`. */
  function awaitable<T>(promise: Promise<T>, name: string): Promise<T> {
    return new Proxy(promise, {
      get(target, key) {
        const value = Reflect.get(target, key, target) as unknown;
        if (typeof key === "string" && value === undefined && !OF_PROMISES.includes(key))
          notAwaited ??= `A call without await has no .${key}: write (await ${name}(…)).${key}`;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  const warn = (message: string): void => void bridge("log", "warn", message.slice(0, 1_000), "");

  /** Says what may be wrong with a run that ended without a value, or with a TypeError. */
  function hint(error?: unknown): void {
    const pending = inFlight.size + queue.size;
    if (notAwaited !== undefined) warn(notAwaited);
    else if (error === undefined && pending > 0)
      warn(`The code ended without a value while ${pending} calls were running: await them.`);
    else if (error instanceof TypeError && lastShapes.length > 0) warn(`${lastShapes.join("; ")}.`);
  }

  /** The tools of a server. `my_server` also means `my-server` if only one server matches. */
  function toolsOf(server: string): readonly string[] {
    const known = parse(toolsJson) as Record<string, readonly string[]>;
    const plain = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
    const exact = keys(known).filter((name) => name === server);
    const [only, ...more] =
      exact.length > 0 ? exact : keys(known).filter((name) => plain(name) === plain(server));
    return more.length === 0 && only !== undefined ? (known[only] ?? []) : [];
  }

  const servers = lazyObject(
    (server) => ({
      name: server,
      call: (tool: unknown, args: unknown) =>
        awaitable(send(server, text(tool), args), `servers.${server}.call`),
    }),
    () => names,
  );
  const tools = lazyObject(
    (server) =>
      lazyObject(
        (tool) => (args: unknown) => {
          const callSite = new Error();
          const value = async () =>
            valueOfTool(await send(server, tool, args, callSite), `${server}:${tool}`, callSite);
          return awaitable(value(), `tools.${server}.${tool}`);
        },
        () => toolsOf(server),
      ),
    () => names,
  );
  const callMetamcp = async (tool: string, args: unknown) => {
    const callSite = new Error();
    return valueIn(await send("metamcp", tool, args, callSite), tool, callSite);
  };
  const search = (query: unknown, options?: object) =>
    callMetamcp("search", { query: text(query), ...options });
  const describe = (tool: unknown) => callMetamcp("describe", { tool: text(tool) });
  /** Reads a stored result as a value or, with options, some of its lines. */
  const read = (uri: unknown, options?: object) =>
    callMetamcp(options === undefined ? "whole" : "read", { uri: text(uri), ...options });

  function progress(done: unknown, total?: unknown, message?: unknown): void {
    if (typeof total === "string") return progress(done, undefined, total);
    const more = message === undefined ? {} : { message: text(message) };
    bridge(
      "progress",
      stringify({ done: Number(done), total: total === undefined ? undefined : Number(total), ...more }),
      "",
      "",
    );
  }

  // Time.
  const timers = new Map<string, { run: () => void; every: number | undefined }>();
  function start(run: () => void, ms: unknown, repeated: boolean): number {
    const wait = Math.max(repeated ? 1 : 0, Number(ms) || 0);
    const id = bridge("timer", text(wait), "", "");
    if (id === "") throw new RangeError("Too many timers");
    timers.set(id, { run, every: repeated ? wait : undefined });
    return Number(id);
  }
  const stop = (id: unknown): void => {
    if (timers.delete(text(id))) bridge("untimer", text(id), "", "");
  };
  const timer =
    (repeated: boolean) =>
    (run: (...args: unknown[]) => void, ms?: unknown, ...args: unknown[]) => {
      if (typeof run !== "function") throw new TypeError("A timer needs a function");
      return start(() => run(...args), ms, repeated);
    };
  const sleep = (ms: unknown) => new Promised<void>((resolve) => void start(resolve, ms, false));

  const globals: Record<string, unknown> = {
    servers,
    tools,
    search,
    describe,
    read,
    sleep,
    progress,
    ...library,
    setTimeout: timer(false),
    setInterval: timer(true),
    clearTimeout: stop,
    clearInterval: stop,
    setImmediate: (run: () => void, ...args: unknown[]) => timer(false)(run, 0, ...args),
  };
  for (const name of ownKeys(globals) as string[]) {
    const value = globals[name];
    // Writable and configurable as in a browser, so that a script may declare variables with these names.
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  }

  const LONGEST_MESSAGE = 16_000;

  function report(op: "fail" | "rejected", error: unknown): void {
    let thrown: Thrown;
    try {
      thrown = thrownOf(error);
    } catch {
      thrown = { name: "", message: "an unreadable value was thrown", stack: "" };
    }
    bridge(op, stringify(thrown), "", "");
  }

  function thrownOf(error: unknown): Thrown {
    const isError =
      error instanceof Error || (typeof error === "object" && error !== null && "message" in error);
    const { name, message, stack, limit } = (isError ? error : {}) as Error & { limit?: unknown };
    return {
      name: isError && typeof name === "string" ? name.slice(0, 200) : "",
      message: (isError ? text(message) : inspect(error)).slice(0, LONGEST_MESSAGE),
      stack: typeof stack === "string" ? stack.slice(0, 4_000) : "",
      limit: typeof limit === "string" ? limit.slice(0, 200) : undefined,
    };
  }

  return {
    begin(list, known) {
      names = parse(list) as string[];
      toolsJson = known;
    },
    settle(callId, ok, json) {
      const call = inFlight.get(callId);
      if (!inFlight.delete(callId) || !call) return;
      sendNext();
      if (ok !== "") {
        call.resolve(received(json, ok));
        return;
      }
      const { message, code, limit } = parse(json) as { message: string; code?: string; limit?: string };
      call.reject(toolError(message, call.callSite, { ...(code && { code }), ...(limit && { limit }) }));
    },
    fire(id) {
      const due = timers.get(id);
      if (!due) return;
      timers.delete(id);
      if (due.every !== undefined) {
        bridge("timer", text(due.every), id, "");
        timers.set(id, due);
      }
      try {
        due.run();
      } catch (error) {
        report("rejected", error);
      }
    },
    watch(main, boxed) {
      // If the unboxed value is a promise, `then` waits for it.
      const unboxed = (value: unknown) => (boxed === "boxed" ? (value as { value: unknown }).value : value);
      const succeed = (value: unknown): void => {
        const json = toJson(value);
        if (json === undefined || notAwaited !== undefined) hint();
        bridge("done", json ?? "", "", "");
      };
      const failed = (error: unknown): void => {
        hint(error);
        report("fail", error);
      };
      apply(then, apply(then, apply(then, main, [unboxed]), [succeed]), [undefined, failed]);
    },
    rejected: (reason) => report("rejected", reason),
  };
}
