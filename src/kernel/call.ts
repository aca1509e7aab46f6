/**
 * The call: a request on its way to a child, and the types around it. Children, the fleet and every layer
 * handle calls.
 */
import type { Permissions } from "./permissions.ts";
import { type Actor, holderKey, type Identity } from "./principal.ts";
import type { Raw } from "./raw.ts";
import type { Roots } from "./roots.ts";
import type { Signal } from "./signal.ts";
import type { ToolFacts } from "./tool-facts.ts";

/** The stable id of a configured server. In personal mode it is the name in the config file. */
export type ServerId = string;

/**
 * Sends messages back to the client. Once the client has left, `notify` does nothing and `request` rejects.
 */
export interface Uplink {
  /**
   * Sends a notification caused by this call: progress (with the client's own token), log messages, or an
   * unknown method.
   */
  notify(method: string, params: Raw | undefined): void;
  /** Sends a request of the child to the client: sampling, elicitation, roots, or an unknown method. */
  request(method: string, params: Raw | undefined, signal: Signal, more?: Asking): Promise<Raw>;
}

export interface Asking {
  /** The child's name for its question. */
  readonly name?: string;
  /** Gets the progress that the child asked for, with the child's own token. */
  readonly onProgress?: (params: Raw) => void;
}

/**
 * Changes a message of a server as the layers of one call would. Used for a message that comes while several
 * calls of a client are in flight: it belongs to none of them alone, so it passes the layers of each call and
 * not the uplink of one. A message whose promise rejects is not sent.
 */
export type Aside = (method: string, params: Raw | undefined) => Raw | undefined | Promise<Raw | undefined>;

/** Pauses the timeouts of a call while a person is asked about it. The returned function resumes them. */
export type Hold = () => () => void;

/** The client that makes a request. Clients with the same `capabilities` and `roots` share connections. */
export interface Origin extends Identity {
  /** Unguessable id of the client's session. */
  readonly session: string;
  /**
   * The client has no session: each request has its own session id, and stored data belongs to the principal.
   */
  readonly sessionless?: boolean | undefined;
  /**
   * The client cannot be distinguished from others. Stored data is found only by its unguessable id and
   * appears in no list.
   */
  readonly unlisted?: boolean | undefined;
  /** The session began at another replica: what its client used there is not known. */
  readonly resumed?: boolean | undefined;
  /** Its protocol version has no structured results, so it reads only the content. */
  readonly textOnly?: boolean | undefined;
  /** A client of the stateless era. It understands all members of results of a child of that era. */
  readonly era2026?: boolean;
  /**
   * The request did not come through the surface of the endpoint. "preview": an administrator looks at what a
   * client would see.
   */
  readonly surface?: "openapi" | "preview";
  /** The capabilities as the client declared them. They are declared to the child in turn. */
  readonly capabilities: Raw;
  /** `clientInfo` as the client wrote it. */
  readonly client?: Raw | undefined;
  readonly protocolVersion?: string | undefined;
  /** Undefined if the client did not declare the `roots` capability. */
  readonly roots?: Roots | undefined;
  /** Sends messages to the client outside of any call. */
  readonly uplink: Uplink;
}

type Caller = Pick<Origin, "endpoint" | "principal" | "session" | "sessionless">;

/** The owner of data that is stored for later requests. */
export function callerOf({ sessionless, endpoint, principal, session }: Caller): string {
  return sessionless ? JSON.stringify([endpoint, holderKey(principal)]) : session;
}

/**
 * The owner of what any of its sessions may use, at any process: a known principal at an endpoint. Anonymous
 * clients are told apart only by their session.
 */
export function ownerOf(origin: Caller): string {
  const { endpoint, principal } = origin;
  return principal.kind === "anonymous" ? callerOf(origin) : JSON.stringify([endpoint, holderKey(principal)]);
}

/** Keeps a server connected: until the lease is released, the connection is not ended for being idle. */
export interface Lease {
  release(): void;
}

/** Whether a tool can run as a task: the call is answered at once, and the result is fetched later. */
export type TaskSupport = "forbidden" | "optional" | "required";

/** A caller that prefers a task. `created` or `declined` is called once, unless the call ends before. */
export interface TaskRequest {
  /** `params.task` of 2025-11-25. */
  readonly terms: Raw;
  /** The server runs the call as a task. */
  created(task: CreatedTask): void;
  /** The call runs without a task. */
  declined(): void;
  /** The server reported a new state of the task. */
  changed(state: Raw): void;
}

/** A task of a server. Its state has the form of 2025-11-25 for servers of all eras. */
export interface CreatedTask {
  readonly state: Raw;
  /** `_meta` of the answer that created it. */
  readonly meta: Raw | undefined;
  /** Asks the server for the state; calls `changed` before it resolves. */
  readonly refresh: () => Promise<void>;
}

/** Whether the tool declares that a second call with the same arguments is safe. */
export type Repeat = "safe" | "unknown" | "unsafe";

/**
 * What happened to one call on its way. Layers and the child write it; it is read when the call has ended.
 */
export interface Trail {
  /** Layers that acted, the outermost first. */
  readonly layers: LayerStep[];
  /** The layer that refused the call. */
  by: string | undefined;
  /** The object that has this layer, or the switch that hides the tool: `endpoint "dev"`. */
  place: string | undefined;
  /** The error code of the refusal, if the answered error does not contain it. */
  code: string | undefined;
  /** Answered from the cache. */
  cached: boolean | undefined;
  /** How often it was sent to a child, if more than once. */
  attempts: number | undefined;
  /** The arguments after all layers. No layer writes them, because an inner layer may redact more. */
  arguments: Raw | undefined;
  /** The tool, prompt or resource, once known, with the id of the server and the server's own name. */
  target: { readonly server: string; readonly tool: string } | undefined;
  /** How much of the call the audit log keeps; by default names. */
  keep: Keep | undefined;
  /** The call must not be answered before its record is stored. */
  required: boolean | undefined;
  /** Records that the call begins, once, if that is required. Rejects if it cannot be recorded. */
  begin: (() => Promise<void>) | undefined;
  /** The id that connects the records of beginning and end, if both are required. */
  begun: string | undefined;
  /** Settles when the record is stored, or cannot be. */
  stored: Promise<void> | undefined;
  /** The earlier read (`server:tool`) because of which the call was refused or a person was asked. */
  read: string | undefined;
  /** Who approved the call, if it needed an approval. */
  approval: { readonly uuid: string; readonly by: Actor; readonly waitedMs: number } | undefined;
  /** The time of the last attempt at the server and on the way to it, in milliseconds since 1970. */
  child: { readonly from: number; to: number } | undefined;
  trace: TraceContext | undefined;
  /** The id of the HTTP request in the access log. */
  httpRequest: string | undefined;
}

/** All members are set from the start: adding them one by one would cost each call a µs. */
export function newTrail(by?: string): Trail {
  return {
    layers: [],
    by,
    place: undefined,
    code: undefined,
    cached: undefined,
    attempts: undefined,
    arguments: undefined,
    target: undefined,
    keep: undefined,
    required: undefined,
    begin: undefined,
    begun: undefined,
    stored: undefined,
    read: undefined,
    approval: undefined,
    child: undefined,
    trace: undefined,
    httpRequest: undefined,
  };
}

/** Notes which layer refused the call. The first one counts: outer layers only pass its error on. */
export function refusedBy(trail: Trail, use: string, at: string): void {
  if (trail.by !== undefined) return;
  trail.by = use;
  trail.place = at;
}

/** How much of arguments and results the audit log keeps. */
export type KeptDetail = "none" | "names" | "redacted" | "full";

export interface Keep {
  readonly arguments: KeptDetail;
  readonly results: KeptDetail;
}

/** W3C trace context of one call. */
export interface TraceContext {
  readonly traceId: string;
  /** The id of our span towards the client. */
  readonly spanId: string;
  /** The id of our span towards the child. */
  readonly childSpanId: string;
  readonly parentId: string | undefined;
  readonly sampled: boolean;
  /** `tracestate` of an HTTP header. A `tracestate` in `_meta` is passed on with the params. */
  readonly state: string | undefined;
  /** The same for `baggage`. */
  readonly baggage: string | undefined;
  /** The id of the JSON-RPC request of the client. */
  readonly requestId: string | undefined;
  readonly overNetwork: boolean | undefined;
}

export interface LayerStep {
  readonly use: string;
  /** The time of the layer itself, without inner layers and the child. */
  ms: number;
  /** "answered": the layer answered without a child, as a cache does. */
  readonly outcome: "passed" | "refused" | "answered";
}

/** One request on its way to a child. A layer may shorten the deadline, never extend it. */
export interface Call {
  readonly server: ServerId;
  /** "tools/call", "prompts/get", or an unknown method. */
  readonly method: string;
  /** For "tools/call": the child's own name of the tool. */
  readonly tool?: string;
  /** As written, with the child's own names. */
  readonly params: Raw;
  /**
   * The `arguments` within `params`, already found. Valid only if `given.params` is the same object as
   * `params`.
   */
  readonly given?: { readonly params: Raw; readonly args: Raw } | undefined;
  readonly origin: Origin;
  readonly signal: Signal;
  /**
   * Absolute time on the gateway's clock. With Infinity only the `deadlineMs` of the server limits the call.
   */
  readonly deadline: number;
  readonly repeat: Repeat;
  readonly uplink: Uplink;
  /** See `Hold`; undefined if the call has no timeouts to pause. */
  readonly hold?: Hold | undefined;
  /** Undefined if no person can be asked for a permission. */
  readonly permissions?: Permissions | undefined;
  readonly aside?: Aside | undefined;
  /** The facts that layers use. Every pipeline sets them. */
  readonly facts?: ToolFacts | undefined;
  /** Wraps what is sent to the server, inside of all layers that decide, ask or count. */
  readonly atServer?: Middleware | undefined;
  /**
   * The instances of the server that parallel attempts of this call use. The attempts share the set, and each
   * uses another instance.
   */
  readonly beside?: Set<number> | undefined;
  /** Set if something reads it. */
  readonly trail?: Trail | undefined;
  /** State of the pipeline about this call. A layer must pass it on. */
  readonly recorder?: object | undefined;
  /** Set if code or a chain made the call, and not the client itself. */
  readonly via?: "code" | "chain" | undefined;
  /** Set if the tool may or must run as a task. The call resolves with the result in any case. */
  readonly task?: { readonly support: TaskSupport; readonly request: TaskRequest | undefined } | undefined;
}

/**
 * Resolves with the child's `result` as written. Rejects with MetaMcpError, or with RpcError if the child
 * answered with an error.
 */
export type Handler = (call: Call) => Promise<Raw>;
export type Middleware = (next: Handler) => Handler;

/** The first layer of the list is the outermost. */
export function compose(layers: readonly Middleware[], handler: Handler): Handler {
  return layers.reduceRight((next, layer) => layer(next), handler);
}
