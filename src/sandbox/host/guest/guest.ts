/**
 * What the code finds around it, written as one function that is carried into the sandbox as text: it may refer to nothing
 * outside itself. It is a convenience and no fence: the limits are kept by the host and the gateway.
 */

import type { Values } from "./values.ts";

/** Strings in, a string out, nothing else: whatever else crossed would run the guest's code on the host's stack. */
export type Bridge = (op: string, a: string, b: string, c: string) => string;

export interface Controls {
  /** JSON of the names that can be listed: of servers, and by server of tools. */
  begin(servers: string, tools: string): void;
  settle(callId: string, ok: string, json: string): void;
  fire(timer: string): void;
  /** Tells the host how the promise ended. `boxed`: its value is `{value}`. */
  watch(main: unknown, boxed: string): void;
  rejected(reason: unknown): void;
}

/** What the code threw, as the host is told. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The limit that the call would have gone beyond. */
  readonly limit?: string | undefined;
}

export function guest(bridge: Bridge, values: Values, pure: Record<string, unknown>): Controls {
  const { inspect, toJson } = values;
  const { parse, stringify } = JSON;
  const { apply, ownKeys } = Reflect;
  const { defineProperty, keys } = Object;
  const text = String;
  const then = Reflect.get(Promise.prototype, "then") as () => unknown;
  const Promised = Promise;
  let names: string[] = [];
  let toolsJson = "{}";

  // Calls.
  interface Sent {
    readonly server: string;
    readonly tool: string;
    readonly json: string;
    readonly place: Error;
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: Error) => void;
  }
  const waiting = new Map<string, Sent>();
  // Kept in here, where memory is limited, and not in the host.
  const queue = new Map<number, Sent>();
  let queued = 0;
  let next = 0;

  class ToolError extends Error {
    override name = "ToolError";
  }

  /** By the time a call fails nobody knows any more who made it: `place` does, which was made then. */
  function failure(message: string, place: Error, more: object): Error {
    const { stack } = place;
    return Object.assign(new ToolError(message), more, typeof stack === "string" ? { stack } : {});
  }

  function send(server: string, tool: string, args: unknown, place = new Error()): Promise<unknown> {
    return new Promised((resolve, reject) => {
      const json = args === undefined ? "{}" : stringify(args);
      if (typeof json !== "string") throw new TypeError("The arguments of a tool must be an object");
      const call = { server: text(server), tool: text(tool), json, place, resolve, reject };
      if (next < queued || !sendNow(call)) queue.set(queued++, call);
    });
  }

  /** False while as many are in flight as may be. */
  function sendNow(call: Sent): boolean {
    const id = bridge("call", call.server, call.tool, call.json);
    if (id !== "") waiting.set(id, call);
    return id !== "";
  }

  function sendNext(): void {
    const call = queue.get(next);
    if (call && sendNow(call)) queue.delete(next++);
  }

  interface Block {
    readonly type?: string;
    readonly text?: string;
  }
  interface Result {
    readonly isError?: boolean;
    readonly content?: readonly Block[];
    readonly structuredContent?: unknown;
  }

  /** The value of a result: what is structured, else its one text, parsed where it is JSON, else its content. */
  function valueIn(result: unknown, where: string, place: Error): unknown {
    const { isError, content = [], structuredContent } = result as Result;
    if (!isError && structuredContent !== undefined) return structuredContent;
    const texts = content.flatMap((block) => (typeof block?.text === "string" ? [block.text] : []));
    if (isError) {
      throw failure(texts.join("\n") || `${where} failed`, place, { code: "execution_failed", result });
    }
    if (texts.length !== 1 || content.length !== 1) return content;
    const [one = ""] = texts;
    if (!/^\s*[[{"\d\-tfn]/.test(one)) return one;
    try {
      return parse(one);
    } catch {
      return one;
    }
  }

  /** Members are made when they are asked for; of symbols and of what promises look for there are none. */
  function lazily(make: (name: string) => unknown, known: () => readonly string[]): object {
    const made = new Map<string, unknown>();
    return new Proxy(
      {},
      {
        get(_target, key) {
          if (typeof key !== "string" || key === "then" || key === "toJSON") return undefined;
          if (!made.has(key)) made.set(key, make(key));
          return made.get(key);
        },
        has: (_target, key) => known().includes(key as string),
        ownKeys: () => [...known()],
        getOwnPropertyDescriptor: (_target, key) =>
          known().includes(key as string)
            ? { value: undefined, enumerable: true, configurable: true }
            : undefined,
      },
    );
  }

  /** `my_server` is the server my-server, where no other is meant. */
  function toolsOf(server: string): readonly string[] {
    const known = parse(toolsJson) as Record<string, readonly string[]>;
    const plain = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
    const exact = keys(known).filter((name) => name === server);
    const [only, ...more] =
      exact.length > 0 ? exact : keys(known).filter((name) => plain(name) === plain(server));
    return more.length === 0 && only !== undefined ? (known[only] ?? []) : [];
  }

  const servers = lazily(
    (server) => ({ name: server, call: (tool: unknown, args: unknown) => send(server, text(tool), args) }),
    () => names,
  );
  const tools = lazily(
    (server) =>
      lazily(
        (tool) => async (args: unknown) => {
          const place = new Error();
          return valueIn(await send(server, tool, args, place), `${server}:${tool}`, place);
        },
        () => toolsOf(server),
      ),
    () => names,
  );
  const own = async (tool: string, args: unknown) => {
    const place = new Error();
    return valueIn(await send("metamcp", tool, args, place), tool, place);
  };
  const search = (query: unknown, options?: object) => own("search", { query: text(query), ...options });
  const describe = (tool: unknown) => own("describe", { tool: text(tool) });
  /** A stored result as a value; with options, lines of it. */
  const read = (uri: unknown, options?: object) =>
    own(options === undefined ? "whole" : "read", { uri: text(uri), ...options });

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
    ...pure,
    setTimeout: timer(false),
    setInterval: timer(true),
    clearTimeout: stop,
    clearInterval: stop,
    setImmediate: (run: () => void, ...args: unknown[]) => timer(false)(run, 0, ...args),
  };
  for (const name of ownKeys(globals) as string[]) {
    const value = globals[name];
    // As in a browser: a script may have variables of these names.
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  }

  const LONGEST_TOLD = 16_000;

  function tell(op: "fail" | "rejected", error: unknown): void {
    let told: Thrown;
    try {
      told = toldOf(error);
    } catch {
      told = { name: "", message: "an unreadable value was thrown", stack: "" };
    }
    bridge(op, stringify(told), "", "");
  }

  function toldOf(error: unknown): Thrown {
    const isError =
      error instanceof Error || (typeof error === "object" && error !== null && "message" in error);
    const { name, message, stack, limit } = (isError ? error : {}) as Error & { limit?: unknown };
    return {
      name: isError && typeof name === "string" ? name.slice(0, 200) : "",
      message: (isError ? text(message) : inspect(error)).slice(0, LONGEST_TOLD),
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
      const call = waiting.get(callId);
      if (!waiting.delete(callId) || !call) return;
      sendNext();
      const value = parse(json) as { name: string; message: string; code?: string; limit?: string };
      const { message, code, limit } = value;
      if (ok === "ok") call.resolve(value);
      else call.reject(failure(message, call.place, { ...(code && { code }), ...(limit && { limit }) }));
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
        tell("rejected", error);
      }
    },
    watch(main, boxed) {
      // A promise as the last value is waited for: here it becomes the promise of what is in it.
      const unboxed = (value: unknown) => (boxed === "boxed" ? (value as { value: unknown }).value : value);
      const succeed = (value: unknown): void => void bridge("done", toJson(value) ?? "", "", "");
      const failed = (error: unknown): void => tell("fail", error);
      apply(then, apply(then, apply(then, main, [unboxed]), [succeed]), [undefined, failed]);
    },
    rejected: (reason) => tell("rejected", reason),
  };
}
