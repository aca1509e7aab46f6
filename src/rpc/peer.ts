/**
 * One side of a JSON-RPC connection: matches answers to requests, in both directions. Knows no stream, no
 * timeouts and no protocol era.
 */
import { MetaMcpError } from "../kernel/errors.ts";
import { PassingMap } from "../kernel/passing.ts";
import { type Raw, scalarOf, toRaw } from "../kernel/raw.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import { type IdKey, idKey, ownId, writeId } from "./id.ts";
import type { Malformed, Message } from "./message.ts";
import { mapProgress, progressToken, restoreProgress } from "./progress.ts";
import { errorOf, INVALID_REQUEST, RpcError } from "./rpc-error.ts";
import { members } from "./slice.ts";

/**
 * The stream on which a message came or is to be sent. The transport creates it; for the peer it is opaque.
 */
export type Via = object | number | undefined;

/**
 * `alone`: no other message is expected in this direction, so it need not wait to be written together with
 * others.
 */
export type Send = (message: Message, via: Via, alone?: boolean) => void;

/** A request of the other side, until it is answered. */
export interface Incoming {
  readonly id: Raw;
  readonly method: string;
  readonly params: Raw | undefined;
  /** Aborted when the other side cancels or the peer is destroyed. No answer is sent then. */
  readonly signal: Signal;
  readonly via: Via;
}

export interface PeerHandlers {
  /**
   * If it rejects with RpcError, that error is sent. Any other error becomes -32603, with its text only if it
   * is a MetaMcpError.
   */
  onRequest(request: Incoming): Promise<Raw>;
  /** Not called for cancellation and progress, which the peer handles itself. */
  onNotification(method: string, params: Raw | undefined, via: Via): void;
  /** Without it, an invalid request is answered with an error. */
  onMalformed?(malformed: Malformed): void;
}

export interface RequestOptions {
  readonly signal?: Signal;
  readonly via?: Via;
  /** Gets the progress that `params` ask for, with the token that `params` contain. */
  readonly onProgress?: (params: Raw) => void;
  /** Progress may also come after the answer, until `endProgress`. */
  readonly lasting?: boolean;
  /** Called with the id just before the request is sent. */
  readonly onSent?: (id: number) => void;
}

/** Our request that waits for its answer. */
class Pending {
  readonly method: string;
  readonly options: RequestOptions | undefined;
  /** The progress token of the caller. */
  readonly token: Raw | undefined;
  onAbort: (() => void) | undefined;
  resolve!: (result: Raw) => void;
  reject!: (reason: unknown) => void;
  readonly answer = new Promise<Raw>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(method: string, options: RequestOptions | undefined, token: Raw | undefined) {
    this.method = method;
    this.options = options;
    this.token = token;
  }
}

class ServedRequest implements Incoming {
  readonly id: Raw;
  readonly method: string;
  readonly params: Raw | undefined;
  readonly via: Via;
  readonly signal = new CallSignal();

  constructor(request: Message & { kind: "request" }, via: Via) {
    this.id = request.id;
    this.method = request.method;
    this.params = request.params;
    this.via = via;
  }
}

export class Peer {
  readonly #send: Send;
  readonly #handlers: PeerHandlers;
  readonly #pending = new PassingMap<number, Pending>();
  /** Answered requests that may still report progress; most peers have none. */
  #reporting: Map<number, Pending> | undefined;
  readonly #serving = new PassingMap<IdKey, ServedRequest>();
  #lastId = 0;
  #destroyed: Error | undefined;

  constructor(send: Send, handlers: PeerHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Number of our requests without an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Number of requests of the other side that we have not answered yet. */
  get serving(): number {
    return this.#serving.size;
  }

  receive(message: Message | Malformed, via?: Via): void {
    if (this.#destroyed) return;
    switch (message.kind) {
      case "request":
        this.#serve(message, via);
        break;
      case "notification":
        if (message.method === "notifications/cancelled") this.#cancelled(message.params);
        else if (message.method === "notifications/progress") this.#progress(message.params);
        else this.#handlers.onNotification(message.method, message.params, via);
        break;
      case "result":
        this.#answered(message.id, message.result);
        break;
      case "error":
        if (message.id) this.#settle(message.id)?.reject(new RpcError(message.error));
        break;
      case "malformed":
        this.#malformed(message, via);
    }
  }

  /**
   * Rejects with RpcError if the answer is an error, otherwise with the reason of `destroy`, `fail` or the
   * signal.
   */
  request(method: string, params: Raw | undefined, options?: RequestOptions): Promise<Raw> {
    const signal = options?.signal;
    if (this.#destroyed) return Promise.reject(this.#destroyed);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = ++this.#lastId;
    const raw = writeId(id);
    const mapped = params && mapProgress(params, raw);
    const pending = new Pending(method, options, mapped?.token);
    this.#pending.set(id, pending);
    if (signal) {
      pending.onAbort = () => this.cancel(id, signal.reason);
      signal.addEventListener("abort", pending.onAbort);
    }
    options?.onSent?.(id);
    const message = { kind: "request", id: raw, method, params: mapped ? mapped.params : params } as const;
    this.#send(message, options?.via, this.#pending.size === 1);
    return pending.answer;
  }

  notify(method: string, params: Raw | undefined, via?: Via): void {
    if (!this.#destroyed) this.#send({ kind: "notification", method, params }, via);
  }

  /** Ignores further progress of an answered request. */
  endProgress(id: number): void {
    this.#reporting?.delete(id);
  }

  /** Rejects one pending request, because the transport failed. */
  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** Cancels one of our requests: tells the other side, and rejects it with the reason. */
  cancel(id: number, reason: unknown): void {
    const pending = this.#take(id);
    if (!pending) return;
    // The protocol forbids cancelling the handshake.
    if (pending.method !== "initialize") {
      const params = toRaw({ requestId: id, reason: reason instanceof Error ? reason.message : undefined });
      this.notify("notifications/cancelled", params, pending.options?.via);
    }
    pending.reject(reason);
  }

  /** Rejects our pending requests, aborts the requests of the other side, and ignores all later messages. */
  destroy(reason: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = reason;
    for (const id of this.#pending.keys()) this.fail(id, reason);
    const serving = [...this.#serving.values()];
    this.#serving.clear();
    for (const request of serving) request.signal.abort(reason);
  }

  /** Like `destroy`, but first answers all open requests of the other side with the reason. */
  dismiss(reason: Error): void {
    if (this.#destroyed) return;
    const error = errorOf(reason);
    for (const { id, via } of this.#serving.values()) this.#send({ kind: "error", id, error }, via);
    this.destroy(reason);
  }

  #serve(request: Message & { kind: "request" }, via: Via): void {
    const key = idKey(request.id);
    if (this.#serving.has(key)) {
      const error = RpcError.of(INVALID_REQUEST, "a request with this id is still being served");
      this.#send({ kind: "error", id: request.id, error: error.raw }, via);
      return;
    }
    const serving = new ServedRequest(request, via);
    this.#serving.set(key, serving);
    this.#run(serving).then(
      (result) => this.#answer(key, serving, { kind: "result", id: request.id, result }),
      (reason) => this.#answer(key, serving, { kind: "error", id: request.id, error: errorOf(reason) }),
    );
  }

  #run(serving: ServedRequest): Promise<Raw> {
    try {
      return this.#handlers.onRequest(serving);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Sends the answer unless the request was cancelled. */
  #answer(key: IdKey, serving: ServedRequest, message: Message): void {
    if (this.#serving.get(key) !== serving) return;
    this.#serving.delete(key);
    this.#send(message, serving.via, this.#serving.size === 0);
  }

  #cancelled(params: Raw | undefined): void {
    const [id, reason] = params ? members(params, ["requestId", "reason"]) : [];
    const key = id && idKey(id);
    const serving = key === undefined ? undefined : this.#serving.get(key);
    if (key === undefined || !serving) return;
    this.#serving.delete(key);
    const text = scalarOf(reason);
    serving.signal.abort(
      new MetaMcpError("cancelled", typeof text === "string" ? text : "the caller cancelled the request"),
    );
  }

  #progress(params: Raw | undefined): void {
    const token = params && progressToken(params);
    if (!token) return;
    const id = ownId(token);
    const pending = this.#pending.get(id) ?? this.#reporting?.get(id);
    if (pending?.token) pending.options?.onProgress?.(restoreProgress(params, pending.token));
  }

  #malformed(malformed: Malformed, via: Via): void {
    const { id, code, reason, meant } = malformed;
    const pending = id && meant !== "request" ? this.#settle(id) : undefined;
    if (pending) pending.reject(RpcError.of(code, `the answer could not be read: ${reason}`));
    if (this.#handlers.onMalformed) this.#handlers.onMalformed(malformed);
    else if (id && meant !== "answer" && !pending) {
      this.#send({ kind: "error", id, error: RpcError.of(code, reason).raw }, via);
    }
  }

  #answered(id: Raw, result: Raw): void {
    const pending = this.#settle(id);
    if (pending?.options?.lasting) {
      this.#reporting ??= new Map();
      this.#reporting.set(ownId(id), pending);
    }
    pending?.resolve(result);
  }

  #settle(id: Raw): Pending | undefined {
    return this.#take(ownId(id));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    if (pending.onAbort) pending.options?.signal?.removeEventListener("abort", pending.onAbort);
    return pending;
  }
}
