/**
 * A link to an HTTP API. It answers the messages of MCP itself: lists come from the document, and a call is
 * one HTTP request.
 */

import { maskFor } from "../../config/secrets.ts";
import type { OpenApiSpec } from "../../config/spec.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Log } from "../../kernel/log.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND } from "../../rpc/rpc-error.ts";
import { joinObject, member, members } from "../../rpc/slice.ts";
import { withUnsent } from "../http/failure.ts";
import type { HttpClient } from "../http/http-client.ts";
import { tooLargeError } from "../http/message-stream.ts";
import { ChildFailure, type Link, type LinkEvents } from "../link.ts";
import { readAnswer } from "./answer.ts";
import { ApiCall } from "./api-call.ts";
import type { Api } from "./apis.ts";
import { InvalidArgument } from "./invalid-argument.ts";
import { type Credentials, requestOf } from "./request.ts";

export interface ApiLinkParts {
  readonly spec: OpenApiSpec;
  readonly api: Api;
  readonly http: HttpClient;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxMessageBytes: number;
  /** The API with its newest document. Rejects if it cannot be read. */
  readonly refresh: (signal: AbortSignal) => Promise<Api>;
  readonly close: () => Promise<void>;
}

const REFRESH_MS = 10 * 60_000;
const LIST_CHANGED = "notifications/tools/list_changed";

export class ApiLink implements Link {
  readonly peer: string;
  readonly #parts: ApiLinkParts;
  readonly #events: LinkEvents;
  readonly #calls = new Map<number, ApiCall>();
  readonly #closing = new AbortController();
  #api: Api;
  #timer: Timer | undefined;
  #ended = false;
  #closed: Promise<void> | undefined;

  constructor(parts: ApiLinkParts, events: LinkEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#api = parts.api;
    this.peer = parts.http.shown;
    this.#refreshLater();
  }

  send(message: Message): void {
    if (this.#ended) return;
    if (message.kind === "request") this.#take(message.id, message.method, message.params);
    else if (message.kind === "notification" && message.method === "notifications/cancelled") {
      const id = message.params && member(message.params, "requestId");
      if (id) this.#drop(ownId(id))?.abort();
    }
  }

  agreed(): void {}

  lastWords(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    this.#end();
    this.#closed ??= this.#parts.close();
    return this.#closed;
  }

  #take(id: Raw, method: string, params: Raw | undefined): void {
    switch (method) {
      case "initialize":
        return this.#answer(id, toRaw(this.#about()));
      case "ping":
        return this.#ping(id);
      case "tools/list":
        return this.#list(id, params);
      case "tools/call":
        return this.#call(id, params);
      default:
        return this.#refuse(id, METHOD_NOT_FOUND, `an API has no ${method}`);
    }
  }

  #about(): object {
    const { title, version, instructions } = this.#api;
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: this.#parts.spec.name, title, version },
      ...(instructions !== undefined && { instructions }),
    };
  }

  /** Any answer shows that the API is there. */
  #ping(id: Raw): void {
    const call = new ApiCall({
      http: this.#parts.http,
      request: { method: "HEAD", url: new URL(this.#parts.http.url), headers: {}, body: undefined },
      maxBytes: 0,
      onProgress: undefined,
    });
    this.#start(id, call, () => this.#answer(id, toRaw({})));
  }

  /** The cursor is the number of the page. */
  #list(id: Raw, params: Raw | undefined): void {
    const cursor = params && member(params, "cursor");
    const page = Number(cursor ? fromRaw(cursor) : 0);
    const tools = this.#api.pages[page];
    if (!tools) return this.#refuse(id, INVALID_PARAMS, "the cursor is unknown");
    const next = page + 1 < this.#api.pages.length ? toRaw(String(page + 1)) : undefined;
    this.#answer(
      id,
      joinObject([
        ["tools", tools],
        ["nextCursor", next],
      ]),
    );
  }

  #call(id: Raw, params: Raw | undefined): void {
    const [rawName, rawArguments, meta] = params ? members(params, ["name", "arguments", "_meta"]) : [];
    const name = rawName && fromRaw(rawName);
    const plan = typeof name === "string" ? this.#api.plan(name) : undefined;
    if (!plan) return this.#refuse(id, INVALID_PARAMS, `there is no tool "${String(name).slice(0, 128)}"`);
    const { http, spec, clock, maxMessageBytes, credentials } = this.#parts;
    let request: ReturnType<typeof requestOf>;
    try {
      const args = rawArguments ? fromRaw(rawArguments) : {};
      request = requestOf(plan, isRecord(args) ? args : {}, credentials);
    } catch (error) {
      if (!(error instanceof InvalidArgument)) throw error;
      return this.#refuse(id, INVALID_PARAMS, error.message);
    }
    const uri = withoutQuery(request.url);
    const asked = { plan, uri, where: `${plan.method} ${uri}`, mask: maskFor(spec), now: clock.now() };
    const token = meta && member(meta, "progressToken");
    const call = new ApiCall({
      http,
      request,
      maxBytes: maxMessageBytes,
      onProgress: token && this.#progress(token),
    });
    this.#start(id, call, (response) => {
      if (response === "too-large") this.#deliver(tooLargeError(id, maxMessageBytes));
      else {
        const answer = readAnswer(response, { ...asked, now: Date.now() });
        if (answer instanceof ChildFailure) this.#events.onFailed(ownId(id), answer);
        else this.#answer(id, answer);
      }
    });
  }

  #progress(progressToken: Raw): (bytes: number, total: number | undefined) => void {
    return (bytes, total) =>
      this.#deliver({
        kind: "notification",
        method: "notifications/progress",
        params: joinObject([
          ["progressToken", progressToken],
          ["progress", toRaw(bytes)],
          ["total", total === undefined ? undefined : toRaw(total)],
          ["message", toRaw("bytes received")],
        ]),
      });
  }

  #start(id: Raw, call: ApiCall, onResponse: Parameters<ApiCall["run"]>[0]["onResponse"]): void {
    const number = ownId(id);
    this.#calls.set(number, call);
    call.run({
      onResponse: (response) => {
        if (this.#drop(number) && !this.#ended) onResponse(response);
      },
      onFailure: (failure) => {
        if (!this.#drop(number) || this.#ended) return;
        if (failure.category === "offline" && failure.unsent && !this.#isConnected())
          this.#lose(number, failure);
        else this.#events.onFailed(number, failure);
      },
    });
  }

  #drop(number: number): ApiCall | undefined {
    const call = this.#calls.get(number);
    this.#calls.delete(number);
    return call;
  }

  #isConnected(): boolean {
    return [...this.#calls.values()].some((call) => call.connected);
  }

  /** The API cannot be reached: no request can succeed on this link. */
  #lose(number: number, failure: ChildFailure): void {
    this.#events.onFailed(number, failure);
    for (const [other, call] of this.#calls)
      this.#events.onFailed(other, withUnsent(failure, !call.connected));
    this.#end();
    this.#events.onClosed(failure);
  }

  #end(): void {
    this.#ended = true;
    this.#timer?.cancel();
    this.#closing.abort();
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
  }

  #refreshLater(): void {
    const { clock, log, refresh, spec } = this.#parts;
    this.#timer = clock.after(REFRESH_MS, () => {
      refresh(this.#closing.signal)
        .then((api) => {
          if (this.#ended || api === this.#api) return;
          this.#api = api;
          this.#deliver({ kind: "notification", method: LIST_CHANGED, params: undefined });
        })
        .catch((error: Error) => {
          if (!this.#ended) log.warn(`${spec.name}: its document cannot be refreshed: ${error.message}`);
        })
        .finally(() => this.#ended || this.#refreshLater());
    });
  }

  #answer(id: Raw, result: Raw): void {
    this.#deliver({ kind: "result", id, result });
  }

  #refuse(id: Raw, code: number, message: string): void {
    this.#deliver({ kind: "error", id, error: toRaw({ code, message }) });
  }

  /** Later, because a link has no events while a message is sent. */
  #deliver(message: Message): void {
    queueMicrotask(() => {
      if (!this.#ended) this.#events.onMessage(message, undefined);
    });
  }
}

function withoutQuery(url: URL): string {
  return url.origin + url.pathname;
}
