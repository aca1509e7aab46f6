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
  /** The client is being shown this version of a list. */
  readonly listed?: (list: ListName, version: string) => void;
}

export type ListName = "tools" | "prompts" | "resources" | "templates";

/** By list: another text exactly if the client would see something else. */
export type Versions = { readonly [list in ListName]?: string };

export interface Face {
  /** Answer to `initialize`, beside version and server info. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Whatever is worth waiting for before `instructions` are asked for; never rejects. */
  prepare?(): Promise<void>;
  instructions(): string;
  /** Rejects or throws RpcError for what is malformed or unknown; a failed tool is a result. */
  handle(request: ClientRequest): Promise<Raw>;
  /** What the client would be shown now, of the lists that may change. */
  versions?(): Versions;
  /** A notification that the session itself has no use for. */
  notified?(method: string, params: Raw | undefined, origin: Origin): void;
}
