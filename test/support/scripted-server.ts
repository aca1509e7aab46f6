/**
 * A fake child without a process. Answers the handshake and records all other messages; a test sends its
 * messages and ends it.
 */

import { ChildFailure, type Connector, type Link, type LinkEvents } from "../../src/child/link.ts";
import type { ServerSpec } from "../../src/config/spec.ts";
import type { Origin } from "../../src/kernel/call.ts";
import { LOCAL } from "../../src/kernel/principal.ts";
import { EMPTY_OBJECT, fromRaw, type Raw, toRaw } from "../../src/kernel/raw.ts";
import type { Message } from "../../src/rpc/message.ts";
import { COMMON_STDIO } from "./spec.ts";

export const specOf = (name: string, more: Partial<ServerSpec> = {}): ServerSpec =>
  ({
    ...COMMON_STDIO,
    name,
    kind: "stdio",
    command: name,
    args: [],
    env: {},
    inheritEnv: [],
    cwd: "/",
    ...more,
  }) as ServerSpec;

export function originOf(session: string, more: Partial<Origin> = {}): Origin {
  const uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody there")) };
  return { ...LOCAL, session, capabilities: EMPTY_OBJECT, uplink, ...more };
}

export class ScriptedLink implements Link {
  readonly peer = "a script";
  readonly spec: ServerSpec;
  readonly #events: LinkEvents;
  readonly calls: (Message & { kind: "request" })[] = [];
  readonly notes: string[] = [];
  readonly capabilities: unknown[] = [];
  /** Answers to requests of the server. */
  readonly answers: Message[] = [];
  closed = false;
  /** Whether it answers pings. */
  alive = true;
  /** If true, it does not answer the handshake. */
  readonly silent: boolean;

  constructor(spec: ServerSpec, events: LinkEvents, silent: boolean) {
    this.spec = spec;
    this.#events = events;
    this.silent = silent;
  }

  send(message: Message): void {
    if (message.kind === "notification") this.notes.push(message.method);
    else if (message.kind !== "request") this.answers.push(message);
    else if (message.method === "initialize") {
      if (!this.silent) this.#answerInitialize(message);
    } else if (message.method === "ping") {
      if (this.alive) this.answer(message, {});
    } else this.calls.push(message);
  }

  #answerInitialize(message: Message & { kind: "request" }): void {
    this.capabilities.push((fromRaw(message.params as Raw) as { capabilities: unknown }).capabilities);
    const serverInfo = { name: "script", version: "1" };
    this.answer(message, { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
  }

  answer({ id }: { readonly id: Raw }, result: object): void {
    this.#events.onMessage({ kind: "result", id, result: toRaw(result) }, undefined);
  }

  /** Answers the oldest waiting call. */
  answerNext(result: object = { ok: true }): void {
    this.answer(this.calls.shift() as Message & { kind: "request" }, result);
  }

  /** Sends a request of the server. */
  ask(method: string, id = 1): void {
    this.#events.onMessage({ kind: "request", id: toRaw(id), method, params: undefined }, undefined);
  }

  /** Reports a waiting call as not sent. `die` must follow. */
  refuse(at: number): void {
    const { id } = this.calls[at] as Message & { kind: "request" };
    this.#events.onFailed(
      Number(fromRaw(id)),
      new ChildFailure("stdio-exit", "it crashed", { unsent: true }),
    );
  }

  die(message = "it crashed"): void {
    this.#events.onClosed(new ChildFailure("stdio-exit", message));
  }

  agreed(): void {}

  lastWords(): undefined {}

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

export class ScriptedServer implements Connector {
  readonly links: ScriptedLink[] = [];
  /** If set, connecting fails with this. */
  failure: ChildFailure | undefined;
  /** If true, new links do not answer the handshake. */
  silent = false;

  get last(): ScriptedLink {
    return this.links.at(-1) as ScriptedLink;
  }

  open(spec: ServerSpec, events: LinkEvents): Promise<Link> {
    if (this.failure) return Promise.reject(this.failure);
    const link = new ScriptedLink(spec, events, this.silent);
    this.links.push(link);
    return Promise.resolve(link);
  }
}

/** Waits until all pending promises and immediates have run. */
export async function flushPending(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
