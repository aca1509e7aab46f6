/** One side of a JSON-RPC conversation: who waits for which answer. Knows no stream, no time and no protocol era. */
import type { Raw } from "../kernel/raw.ts";
import type { Malformed, Message } from "./message.ts";

/** Opaque name of the stream a message came on or shall go on; the wire makes it, the peer carries it. */
export type Via = object | number | undefined;

/** A request of the other side, until it is answered. */
export interface Incoming {
  readonly id: Raw;
  readonly method: string;
  readonly params: Raw | undefined;
  /** Aborted when the other side cancels or the peer is destroyed; no answer is sent then. */
  readonly signal: AbortSignal;
  readonly via: Via;
}

export interface PeerHandlers {
  /** Rejecting with RpcError sends its error as it is; anything else becomes -32603 without details. */
  onRequest(request: Incoming): Promise<Raw>;
  /** Cancellation and progress that the peer itself used up do not come here. */
  onNotification(method: string, params: Raw | undefined, via: Via): void;
  /** Without it, what names an id and is no message is answered with an error. */
  onMalformed?(malformed: Malformed): void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly via?: Via;
  readonly onProgress?: (params: Raw) => void;
  /** Called with the id it was sent under. */
  readonly onSent?: (id: number) => void;
}

export class Peer {
  constructor(_send: (message: Message, via: Via) => void, _handlers: PeerHandlers) {}

  receive(_message: Message | Malformed, _via?: Via): void {}

  /** Rejects with RpcError (answered so), the reason of `destroy` or `fail`, or the signal's reason. */
  request(_method: string, _params: Raw | undefined, _options?: RequestOptions): Promise<Raw> {
    return Promise.reject(new Error("not connected"));
  }

  notify(_method: string, _params: Raw | undefined, _via?: Via): void {}

  /** One pending request of ours failed below. */
  fail(_id: number, _error: Error): void {}

  /** Rejects all that is pending, aborts all that is served, and ignores everything after. */
  destroy(_reason: Error): void {}

  readonly pending: number = 0;
  readonly serving: number = 0;
}
