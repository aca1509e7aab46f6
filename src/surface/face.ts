/** What a session shows its client. Surfaces implement it; the session knows nothing of tools. */
import type { Origin, Uplink } from "../kernel/call.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";

/** One request of a client, once its session is open. */
export interface ClientRequest {
  readonly method: string;
  readonly params: Raw | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  /** The way back on the stream this request came on. */
  readonly uplink: Uplink;
}

export interface Face {
  /** Answer to `initialize`, beside version and server info. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  instructions(): string;
  /** Rejects or throws RpcError for what is malformed or unknown; a failed tool is a result. */
  handle(request: ClientRequest): Promise<Raw>;
  /** A notification that the session itself has no use for. */
  notified?(method: string, params: Raw | undefined, origin: Origin): void;
}
