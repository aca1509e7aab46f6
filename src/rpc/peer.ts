/** One side of a JSON-RPC conversation: who waits for which answer. Knows no stream, no time and no protocol era. */
import { MetaMcpError } from "../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal, type Signal } from "../kernel/signal.ts";
import { type IdKey, idKey, ownId, writeId } from "./id.ts";
import type { Malformed, Message } from "./message.ts";
import { mapProgress, progressToken, restoreProgress } from "./progress.ts";
import { errorOf, INVALID_REQUEST, RpcError } from "./rpc-error.ts";
import { members } from "./slice.ts";

/** Opaque name of the stream a message came on or shall go on; the wire makes it, the peer carries it. */
export type Via = object | number | undefined;

/** `alone`: nothing else is under way in its direction, so it need not wait for others to be written with. */
export type Send = (message: Message, via: Via, alone?: boolean) => void;

/** A request of the other side, until it is answered. */
export interface Incoming {
  readonly id: Raw;
  readonly method: string;
  readonly params: Raw | undefined;
  /** Aborted when the other side cancels or the peer is destroyed; no answer is sent then. */
  readonly signal: Signal;
  readonly via: Via;
}

export interface PeerHandlers {
  /** Rejecting with RpcError sends its error as it is; anything else becomes -32603, with a text only if it is a MetaMcpError. */
  onRequest(request: Incoming): Promise<Raw>;
  /** Cancellation and progress are used up by the peer and do not come here. */
  onNotification(method: string, params: Raw | undefined, via: Via): void;
  /** Without it, a request that cannot be read is answered with an error. */
  onMalformed?(malformed: Malformed): void;
}

export interface RequestOptions {
  readonly signal?: Signal;
  readonly via?: Via;
  /** Gets the progress that was asked for in `params`, in the token that stands there. */
  readonly onProgress?: (params: Raw) => void;
  /** Progress may come after the answer too, until `endProgress`. */
  readonly lasting?: boolean;
  /** Called with the id it is sent under, just before. */
  readonly onSent?: (id: number) => void;
}

/** A request of ours that waits for its answer. */
class Pending {
  readonly method: string;
  readonly options: RequestOptions | undefined;
  /** The token of whoever asked for progress. */
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

class Serving implements Incoming {
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
  readonly #pending = new Map<number, Pending>();
  /** Answered, but still reporting. */
  readonly #reporting = new Map<number, Pending>();
  readonly #serving = new Map<IdKey, Serving>();
  #lastId = 0;
  #destroyed: Error | undefined;

  constructor(send: Send, handlers: PeerHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Requests of ours without an answer. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Requests of the other side that we owe an answer. */
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

  /** Rejects with RpcError (answered so), the reason of `destroy` or `fail`, or the signal's reason. */
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

  /** Nobody wants to hear more of a request that was answered. */
  endProgress(id: number): void {
    this.#reporting.delete(id);
  }

  /** One pending request of ours failed below. */
  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** Gives one request of ours up: the other side is told, and it rejects with the reason. */
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

  /** Rejects all that is pending, aborts all that is served, and ignores everything after. */
  destroy(reason: Error): void {
    if (this.#destroyed) return;
    this.#destroyed = reason;
    for (const id of this.#pending.keys()) this.fail(id, reason);
    const serving = [...this.#serving.values()];
    this.#serving.clear();
    for (const request of serving) request.signal.abort(reason);
  }

  /** As `destroy`, but whoever waits for an answer of ours gets the reason. */
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
    const serving = new Serving(request, via);
    this.#serving.set(key, serving);
    this.#run(serving).then(
      (result) => this.#answer(key, serving, { kind: "result", id: request.id, result }),
      (reason) => this.#answer(key, serving, { kind: "error", id: request.id, error: errorOf(reason) }),
    );
  }

  #run(serving: Serving): Promise<Raw> {
    try {
      return this.#handlers.onRequest(serving);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Nobody waits for the answer to a request that was cancelled. */
  #answer(key: IdKey, serving: Serving, message: Message): void {
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
    const text = reason && fromRaw(reason);
    serving.signal.abort(
      new MetaMcpError("cancelled", typeof text === "string" ? text : "the caller cancelled the request"),
    );
  }

  #progress(params: Raw | undefined): void {
    const token = params && progressToken(params);
    if (!token) return;
    const id = ownId(token);
    const pending = this.#pending.get(id) ?? this.#reporting.get(id);
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
    if (pending?.options?.lasting) this.#reporting.set(ownId(id), pending);
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
