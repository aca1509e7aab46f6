/** The one verb: a request on its way to a child. Connection, pool, fleet and every layer offer or use it. */
import type { Raw } from "./raw.ts";
import type { Signal } from "./signal.ts";

/** Stable id of a configured server; in personal mode its name in the config file. */
export type ServerId = string;

/** The way back to who asked. Both fail quietly or reject once the client is gone. */
export interface Uplink {
  /** A notification caused by this call: progress (in the client's own token), log messages, unknown ones. */
  notify(method: string, params: Raw | undefined): void;
  /** A request of the child, put to the client: sampling, elicitation, roots, unknown ones. */
  request(method: string, params: Raw | undefined, signal: Signal, more?: Asking): Promise<Raw>;
}

export interface Asking {
  /** What the child calls its question. */
  readonly name?: string;
  /** Gets the progress the child asked for, in the child's own token. */
  readonly onProgress?: (params: Raw) => void;
}

/** Who asks. Connections are shared by those who agree in `capabilities`. */
export interface Origin {
  /** Unguessable id of the client's session. */
  readonly session: string;
  /** Who it is over all requests, where no session holds them together: what is kept for the client is kept for this one. */
  readonly caller?: string;
  /** Its protocol version knows no structured results: to it a result is what its content says. */
  readonly textOnly?: boolean;
  /** A client of the stateless era: it understands all that a child of that era says of its results. */
  readonly modern?: boolean;
  /** The client's capabilities as it declared them; declared to the child in turn. */
  readonly capabilities: Raw;
  /** The way back to the client outside of any call, e.g. when a child asks for roots while it starts. */
  readonly uplink: Uplink;
}

/** Whose what is kept for later is. */
export function callerOf({ caller, session }: Origin): string {
  return caller ?? session;
}

/** The right to find a server connected: until it is released the connection does not end for being idle. */
export interface Lease {
  release(): void;
}

/** What the tool declares about being called twice with the same arguments. */
export type Repeat = "safe" | "unknown" | "unsafe";

/** One request on its way to a child. A layer may shorten the deadline, never extend it. */
export interface Call {
  readonly server: ServerId;
  /** "tools/call", "prompts/get", or one that does not exist yet. */
  readonly method: string;
  /** As written; names as the child knows them. */
  readonly params: Raw;
  readonly origin: Origin;
  readonly signal: Signal;
  /** Absolute, on the gateway's clock. Infinity: only the server's own `deadlineMs` bounds it. */
  readonly deadline: number;
  readonly repeat: Repeat;
  readonly uplink: Uplink;
}

/** Resolves with the child's `result` as written; rejects with MetaMcpError or RpcError (the child's answer was an error). */
export type Handler = (call: Call) => Promise<Raw>;
export type Middleware = (next: Handler) => Handler;

/** First in the list is outermost. */
export function compose(layers: readonly Middleware[], handler: Handler): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}
