/** The one verb: a request on its way to a child. Connection, pool, fleet and every layer offer or use it. */
import type { Permissions } from "./permissions.ts";
import { holderKey, type Identity } from "./principal.ts";
import type { Raw } from "./raw.ts";
import type { Roots } from "./roots.ts";
import type { Signal } from "./signal.ts";
import type { ToolFacts } from "./tool-facts.ts";

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

/**
 * What a server says while several calls of a client are under way belongs to none of them alone, and does not go by the
 * way back of one: each makes of it what its layers make of what is said to it.
 */
export type Aside = (method: string, params: Raw | undefined) => Raw | undefined;

/** Whatever time the call has stands still until what this returns is called: somebody is being asked on its behalf. */
export type Hold = () => () => void;

/** Who asks. Connections are shared by those who agree in `capabilities` and `roots`. */
export interface Origin extends Identity {
  /** Unguessable id of the client's session. */
  readonly session: string;
  /** No session holds its requests together, each has one of its own: what is kept for it is kept for its principal. */
  readonly sessionless?: boolean;
  /** It cannot be told from other clients: what is kept for it is found by its unguessable address, and in no list. */
  readonly unlisted?: boolean;
  /** Its protocol version knows no structured results: to it a result is what its content says. */
  readonly textOnly?: boolean;
  /** A client of the stateless era: it understands all that a child of that era says of its results. */
  readonly era2026?: boolean;
  /** It came by this view, not by the surface of its endpoint. "preview": somebody looks what a client would see. */
  readonly surface?: "openapi" | "preview";
  /** The client's capabilities as it declared them; declared to the child in turn. */
  readonly capabilities: Raw;
  /** `clientInfo` as the client wrote it. */
  readonly client?: Raw | undefined;
  readonly protocolVersion?: string | undefined;
  /** Undefined where the client did not declare any. */
  readonly roots?: Roots;
  /** The way back to the client outside of any call. */
  readonly uplink: Uplink;
}

/** Whose what is kept for later is. */
export function callerOf({ sessionless, endpoint, principal, session }: Origin): string {
  return sessionless ? JSON.stringify([endpoint, holderKey(principal)]) : session;
}

/** The right to find a server connected: until it is released the connection does not end for being idle. */
export interface Lease {
  release(): void;
}

/** Whether a tool can run as a task: a call that is answered at once, and whose result is fetched later. */
export type TaskSupport = "forbidden" | "optional" | "required";

/** A caller who would rather have a task than wait. Hears `created` or `declined`, once, unless the call ends before. */
export interface TaskWish {
  /** `params.task` as 2025-11-25 has it. */
  readonly terms: Raw;
  /** The server runs it as a task. */
  created(task: CreatedTask): void;
  /** It runs as any other call. */
  declined(): void;
  /** The state of the task, as the server last told. */
  changed(state: Raw): void;
}

/** A task of a server. Its state has the form of 2025-11-25, whichever era the server speaks. */
export interface CreatedTask {
  readonly state: Raw;
  /** `_meta` of the answer that created it. */
  readonly meta: Raw | undefined;
  /** Asks the server how it stands; `changed` has been called when this resolves. */
  readonly refresh: () => Promise<void>;
}

/** What the tool declares about being called twice with the same arguments. */
export type Repeat = "safe" | "unknown" | "unsafe";

/** Written along the way of one call by whoever acts on it, read when the call has ended. */
export interface Trail {
  /** Layers that acted, the outermost first. */
  readonly layers: LayerStep[];
  /** The layer that refused it. */
  by: string | undefined;
  /** Why, of the error table, where the error that is answered does not say so. */
  code: string | undefined;
  /** Answered from the cache. */
  cached: boolean | undefined;
  /** How often it was sent to a child, where more than once. */
  attempts: number | undefined;
  /** As they left the whole pipeline for the child: no layer writes them, as those further in may redact more. */
  arguments: Raw | undefined;
  /** Which tool, prompt or resource it is, once that is known: as the engine knows it. */
  target: { readonly server: string; readonly tool: string } | undefined;
  /** How much of it the audit log keeps; names unless a layer says so. */
  keep: Keep | undefined;
  /** What was read before, where that is why it was refused or a person was asked: `server:tool`. */
  read: string | undefined;
  /** Who said yes to it, where somebody else had to. */
  approval: { readonly uuid: string; readonly by: Approver; readonly waitedMs: number } | undefined;
  /** The time at the server and on the way to it, of the last attempt; in milliseconds since 1970. */
  child: { readonly from: number; to: number } | undefined;
  trace: TraceContext | undefined;
}

/** With every member from the start: a trail that gets them one by one costs each call a µs. */
export function newTrail(by?: string): Trail {
  return {
    layers: [],
    by,
    code: undefined,
    cached: undefined,
    attempts: undefined,
    arguments: undefined,
    target: undefined,
    keep: undefined,
    read: undefined,
    approval: undefined,
    child: undefined,
    trace: undefined,
  };
}

export interface Approver {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
}

/** What of arguments and results stays in the audit log. */
export type KeptDetail = "none" | "names" | "redacted" | "full";

export interface Keep {
  readonly arguments: KeptDetail;
  readonly results: KeptDetail;
}

/** W3C trace context of one call. */
export interface TraceContext {
  readonly traceId: string;
  /** Of our span towards the client. */
  readonly spanId: string;
  /** Of our span towards the child. */
  readonly childSpanId: string;
  readonly parentId: string | undefined;
  readonly sampled: boolean;
  /** `tracestate` of an HTTP header. That of `_meta` goes on by itself. */
  readonly state: string | undefined;
  /** Of the JSON-RPC request it came by. */
  readonly requestId: string | undefined;
  readonly overNetwork: boolean | undefined;
}

export interface LayerStep {
  readonly use: string;
  /** What the layer itself took, without what is inside of it. */
  ms: number;
  /** "answered": without a child, as a cache does. */
  readonly outcome: "passed" | "refused" | "answered";
}

/** One request on its way to a child. A layer may shorten the deadline, never extend it. */
export interface Call {
  readonly server: ServerId;
  /** "tools/call", "prompts/get", or one that does not exist yet. */
  readonly method: string;
  /** Of "tools/call": which tool, as the child knows it. */
  readonly tool?: string;
  /** As written; names as the child knows them. */
  readonly params: Raw;
  /** What these very `params` have as `arguments`, from who wrote them: of others it says nothing. */
  readonly given?: { readonly params: Raw; readonly args: Raw } | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  /** Absolute, on the gateway's clock. Infinity: only the server's own `deadlineMs` bounds it. */
  readonly deadline: number;
  readonly repeat: Repeat;
  readonly uplink: Uplink;
  /** See `Hold`; undefined where nobody counts the time. */
  readonly hold?: Hold | undefined;
  /** Undefined: nobody can be asked for a permission of this call. */
  readonly permissions?: Permissions | undefined;
  readonly aside?: Aside | undefined;
  /** What layers judge it by; given behind every pipeline. */
  readonly facts?: ToolFacts | undefined;
  /** Stands around what goes to the server, inside of all that decides, asks or counts. */
  readonly atServer?: Middleware | undefined;
  /** Shared by attempts of one call that run side by side: instances of the server that one of them is at. Each goes to another. */
  readonly beside?: Set<number> | undefined;
  /** Given where somebody reads it. */
  readonly trail?: Trail | undefined;
  /** Its way through the layers, as the pipeline keeps it. A layer passes it on with the rest. */
  readonly walk?: object | undefined;
  /** Made by code or a chain, not by the client itself. */
  readonly via?: "code" | "chain" | undefined;
  /** Where the tool may or must run as a task. The call resolves with its result all the same. */
  readonly task?: { readonly support: TaskSupport; readonly wish: TaskWish | undefined } | undefined;
}

/** Resolves with the child's `result` as written; rejects with MetaMcpError or RpcError (the child's answer was an error). */
export type Handler = (call: Call) => Promise<Raw>;
export type Middleware = (next: Handler) => Handler;

/** First in the list is outermost. */
export function compose(layers: readonly Middleware[], handler: Handler): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}
