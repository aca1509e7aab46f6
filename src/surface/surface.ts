/** What a session shows its client. Surfaces implement it; the session knows nothing of tools. */
import type { Hold, Origin, TaskWish, TraceContext, Trail, Uplink } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Permissions } from "../kernel/permissions.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { TraceHeaders } from "../kernel/traceparent.ts";

/** One request of a client, once its session is open. */
export interface ClientRequest {
  readonly method: string;
  /** As the client wrote it; undefined where it has none, as over plain HTTP. */
  readonly id?: Raw | undefined;
  /** It came over a network, not from within this process. */
  readonly overNetwork?: boolean | undefined;
  readonly params: Raw | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  /** The way back on the stream this request came on. */
  readonly uplink: Uplink;
  /** See `Hold`; undefined where nobody counts the time. */
  readonly hold?: Hold | undefined;
  readonly permissions?: Permissions | undefined;
  /** The client would rather have a task than wait for the tool it calls. */
  readonly wish?: TaskWish;
  /** Code or a chain of the client asks, not the client itself. */
  readonly via?: "code" | "chain" | undefined;
  /** Of a call that is being recorded: whoever acts on it writes here. */
  readonly trail?: Trail | undefined;
  /** The trace that the HTTP request belongs to. */
  readonly trace?: TraceHeaders | undefined;
  /** The call of the client that this one is a part of. */
  readonly within?: TraceContext | undefined;
  /** The client asks for a list: returns what must be called with the version it is shown, or without one if it is shown none. */
  readonly listing?: ((list: ListName) => (version?: string) => void) | undefined;
}

export type ListName = "tools" | "prompts" | "resources" | "templates";

export interface ListState {
  /** Another text exactly if the client would see something else. */
  readonly version: string;
  /** All that belongs in it is known. */
  readonly complete: boolean;
}

export type ListStates = { readonly [list in ListName]?: ListState };

export interface Surface {
  /** Answer to `initialize`, beside version and server info. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Whatever is worth waiting for before `instructions` are asked for; never rejects. */
  prepare?(origin: Origin): Promise<void>;
  instructions(asker: Asker): string;
  /** Rejects or throws RpcError for what is malformed or unknown; a failed tool is a result. */
  handle(request: ClientRequest): Promise<Raw>;
  /** The definition of a tool of children, under the name it is listed by to this client; undefined while it is not known. */
  tool?(name: string, asker: Asker): Raw | undefined;
  /** What the client would be shown now, of the lists that may change. */
  lists?(asker: Asker): ListStates;
  /** There may be servers that nothing is known of: gets to know what the client's lists should show. */
  learn?(origin: Origin): void;
  /** A notification that the session itself has no use for. */
  notified?(method: string, params: Raw | undefined, origin: Origin): void;
}
