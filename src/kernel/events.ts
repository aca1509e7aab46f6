/** What happens, told once and as it happens. Audit, metrics, traces, live views and tests read it; nothing else is instrumented. */
import type { Approver, Origin, TraceContext, Trail } from "./call.ts";
import type { Actor, Principal } from "./principal.ts";
import type { Raw } from "./raw.ts";
import type { TraceHeaders } from "./traceparent.ts";

export type EngineEvent =
  | CallBegun
  | CallEnded
  | ConnectionChanged
  | BreakerChanged
  | PoolWaiting
  | SessionChanged
  | ToolsListed
  | LoginTried
  | AdminChange
  | ApprovalChanged
  | RevisionServed
  | UpdateStep
  | ToolsChanged
  | StoreChanged
  | RecordsChanged;

/** All times are milliseconds since 1970. */
interface At {
  readonly at: number;
}

/** What a client uses beside tools. */
export type ItemMethod = "prompts/get" | "resources/read";

/** A call of a tool as its caller made it; one that calls others (code, a chain) is a call too, and `via` of those. */
export interface CallBegun extends At {
  readonly type: "call.begun";
  /** A prompt or resource was asked for, not a tool. */
  readonly method?: ItemMethod | undefined;
  /** Of this process, counted. */
  readonly id: number;
  readonly origin: Origin;
  /** As the engine knows it: a server's id. Our own tools: "metamcp". What means nothing here stands as the caller wrote it. */
  readonly server: string;
  /** As the server names it; of a prompt its name, of a resource its URI. */
  readonly tool: string;
  readonly via?: "code" | "chain" | undefined;
  readonly trail: Trail;
}

export interface CallEnded extends Omit<CallBegun, "type"> {
  readonly type: "call.ended";
  readonly durationMs: number;
  /** "refused": we said no (unknown, misfit, forbidden, over a limit), and nothing reached the server. */
  readonly outcome: "ok" | "error" | "refused";
  /** Of the error table. */
  readonly code?: string | undefined;
  /** Of the JSON-RPC error that was the answer. */
  readonly rpcCode?: number | undefined;
  /** As the caller wrote them. */
  readonly arguments?: Raw | undefined;
  readonly result?: Raw | undefined;
  readonly requestBytes: number;
  readonly resultBytes: number;
}

/** Of one connection. That it is in use or idle changes with each call and is not told. */
export interface ConnectionChanged extends At {
  readonly type: "connection";
  readonly server: string;
  /** "started": its process runs, or its address answers; "closed" after "failed" where something had to be ended. */
  readonly state: "connecting" | "started" | "connected" | "failed" | "closed";
  readonly reason?: string;
  readonly pid?: number;
  /** Of one that failed: the server wants a login first. */
  readonly login?: boolean;
  /** It was lost under calls, and is dialled again. */
  readonly restart?: boolean;
  /** Of one that ends: how long it was connected. */
  readonly durationMs?: number;
}

export interface BreakerChanged extends At {
  readonly type: "breaker";
  readonly server: string;
  readonly state: "closed" | "open" | "half-open";
}

export interface PoolWaiting extends At {
  readonly type: "pool";
  readonly waiting: number;
}

export interface SessionChanged extends At {
  readonly type: "session";
  readonly state: "opened" | "closed";
  readonly endpoint: string;
  readonly principal: Principal;
  /** Unguessable: only a hash of it may be shown. */
  readonly session: string;
  /** Of `initialize`. */
  readonly client?: Raw;
  readonly protocolVersion?: string;
  /** Of one that closed. */
  readonly durationMs?: number;
}

/** A client was shown a short list of tools in place of all there are. */
export interface ToolsListed extends At {
  readonly type: "listed";
  readonly endpoint: string;
  /** Its session, or who asks without one. */
  readonly caller: string;
  readonly sessionless: boolean;
  readonly shownBytes: number;
  /** Of the definitions of all tools that it can reach. */
  readonly allBytes: number;
}

export interface LoginTried extends At {
  readonly type: "login";
  readonly outcome: "ok" | "refused";
  /** Undefined where nobody is known to have tried. */
  readonly principal?: Principal;
  /** "password", "oidc", "setup", "invitation"; "oauth": a person let a client in, or refused; "server": at an MCP server. */
  readonly by: string;
  readonly address?: string;
  /** Of "oauth": the client, and the name of the endpoint that it asked for. */
  readonly client?: string;
  readonly endpoint?: string;
  /** Of "server". */
  readonly server?: { readonly uuid: string; readonly name: string };
}

/** A change by the admin API, of whatever kind of object, or one that the caller's role did not allow. */
export interface AdminChange extends At {
  readonly type: "admin";
  readonly principal: Principal;
  /** "create", "update", "delete", "apply", "rollback", "revoke", "approve" … */
  readonly action: string;
  readonly object: { readonly kind: string; readonly uuid?: string; readonly name?: string };
  readonly revision?: number;
  readonly outcome: "ok" | "refused";
}

/** A call began to wait for a yes of somebody else, or its waiting ended; told by every gateway on the store. */
export interface ApprovalChanged extends At {
  readonly type: "approval";
  readonly uuid: string;
  readonly state: "waiting" | "approved" | "refused" | "expired" | "withdrawn";
  /** `server:tool`. */
  readonly name: string;
  readonly endpoint: { readonly uuid: string; readonly name: string };
  readonly principal: Approver;
  readonly server: { readonly uuid: string; readonly name: string };
  readonly tool: string;
  readonly reason: string;
  readonly expiresAt: string;
  readonly decidedBy?: Approver;
}

export interface RevisionServed extends At {
  readonly type: "revision";
  readonly revision: number;
  /** "this": made here; "other": by another gateway on the same store. */
  readonly by: "this" | "other";
  readonly who?: Actor;
  readonly summary?: string;
  /** What it changed, the first of them; `more`: how many others. */
  readonly changes?: readonly {
    readonly op: "create" | "update" | "delete";
    readonly kind: string;
    readonly uuid: string;
    readonly name: string;
  }[];
  readonly more?: number;
}

/** What a server lists is another: it said so, or it was asked again. */
export interface ToolsChanged extends At {
  readonly type: "tools";
  readonly server: string;
  readonly toolCount: number;
}

/** The store can be written again, or cannot. */
export interface StoreChanged extends At {
  readonly type: "store";
  readonly up: boolean;
  readonly reason?: string;
}

/** Something that is no part of revisions was changed, at whichever gateway. */
export interface RecordsChanged extends At {
  readonly type: "changed";
  readonly of: "users" | "api-keys" | "provision-requests" | "approvals";
}

/** One step of a changed server on its way to the clients. */
export interface UpdateStep extends At {
  readonly type: "update";
  readonly server: string;
  readonly revision: number;
  readonly step: "stored" | "closed" | "started" | "connected" | "failed" | "compiled" | "told";
  readonly pid?: number;
  readonly toolCount?: number;
  readonly reason?: string;
  /** Uuids of the namespaces that were compiled again. */
  readonly namespaces?: readonly string[];
  /** How many clients were told that their list is another. */
  readonly clients?: number;
}

/** What a trace may be continued from. */
export interface Traceable {
  /** Of the JSON-RPC request. */
  readonly id?: Raw | undefined;
  readonly overNetwork?: boolean | undefined;
  readonly params: Raw | undefined;
  /** Of the HTTP request. */
  readonly trace?: TraceHeaders | undefined;
  /** The call that this one is a part of. */
  readonly within?: TraceContext | undefined;
}

export class Events {
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  /** Gives each call its place in a trace; undefined where nobody collects traces. */
  tracer: ((request: Traceable) => TraceContext) | undefined;

  /** Look here before making an event: nobody may listen. */
  get heard(): boolean {
    return this.#listeners.size > 0;
  }

  /** A listener must not throw and must not wait: it stands on the way of calls. */
  emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns what ends it. */
  on(listener: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
