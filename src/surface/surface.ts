/**
 * The interface between a session and what its client sees. Surfaces implement it; the session knows nothing
 * of tools.
 */
import type { Hold, Origin, TaskRequest, TraceContext, Trail, Uplink } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Signal } from "../kernel/signal.ts";
import type { TraceHeaders } from "../kernel/traceparent.ts";

/** One request of a client after its handshake. */
export interface ClientRequest {
  readonly method: string;
  /** As the client wrote it; undefined without a JSON-RPC id, as over plain HTTP. */
  readonly id?: Raw | undefined;
  /** The request came over a network, not from within this process. */
  readonly overNetwork?: boolean | undefined;
  readonly params: Raw | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  /** Sends messages to the client on the stream of this request. */
  readonly uplink: Uplink;
  /** See `Hold`; undefined if no time limit applies. */
  readonly hold?: Hold | undefined;
  /** The client wants the tool call to run as a task. */
  readonly taskRequest?: TaskRequest;
  /** The call is made by code or a chain of the client, not by the client itself. */
  readonly via?: "code" | "chain" | undefined;
  /** Set if the call is being recorded; everything that acts on the call writes here. */
  readonly trail?: Trail | undefined;
  /** The trace headers of the HTTP request. */
  readonly trace?: TraceHeaders | undefined;
  /** The client's call that this one is a part of. */
  readonly within?: TraceContext | undefined;
  /**
   * Must be called for a list request. The returned function must be called with the version that is sent, or
   * without one if none is sent.
   */
  readonly listing?: ((list: ListName) => (version?: string) => void) | undefined;
}

export type ListName = "tools" | "prompts" | "resources" | "templates" | "skills";

export interface ListState {
  /** Differs exactly if the client would see another list. */
  readonly version: string;
  /** The lists of all servers that belong in it are known. */
  readonly complete: boolean;
}

export type ListStates = { readonly [list in ListName]?: ListState };

export interface Surface {
  /** The capabilities in the answer to `initialize`. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /**
   * The extensions of servers that this client hears of, for `capabilities.extensions`. Call `prepare`
   * before.
   */
  extensions?(origin: Origin): Readonly<Record<string, unknown>>;
  /** The same for `serverInfo`. Default: MetaMCP. */
  readonly serverInfo?: Readonly<Record<string, unknown>> | undefined;
  /** Loads what the answer to `initialize` needs. If it rejects, the client gets the error. */
  prepare?(origin: Origin): Promise<void>;
  instructions(asker: Asker): string;
  /** Rejects or throws RpcError for a malformed or unknown request. A failed tool call is a result. */
  handle(request: ClientRequest): Promise<Raw>;
  /** The definition of a child's tool, by the name that this client sees; undefined while it is not known. */
  tool?(name: string, asker: Asker): Raw | undefined;
  /** The current state of the lists that can change, as this client would see them. */
  lists?(asker: Asker): ListStates;
  /** Loads the lists of servers that are not known yet, if the client's lists depend on them. */
  loadMissing?(origin: Origin): void;
  /** Whether the client may get this notification, which belongs to none of its calls. Default: yes. */
  readonly hears?: ((method: string, principal: Principal) => boolean) | undefined;
  /** Called for notifications that the session does not handle itself. */
  notified?(method: string, params: Raw | undefined, origin: Origin): void;
}
