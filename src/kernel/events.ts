/**
 * The events of the engine. Audit log, metrics, traces, live views and tests listen to them; there is no
 * other instrumentation.
 */

import type { Origin, TraceContext, Trail } from "./call.ts";
import type { NamedObject } from "./named-object.ts";
import type { Actor, CallActor, Principal } from "./principal.ts";
import type { Raw } from "./raw.ts";
import type { ConnectionStep } from "./server-status.ts";
import type { TraceHeaders } from "./traceparent.ts";

export type EngineEvent =
  | CallBegun
  | CallEnded
  | ConnectionChanged
  | BreakerChanged
  | EgressTried
  | PoolWaiting
  | SessionChanged
  | ToolsListed
  | LoginTried
  | CredentialRefused
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

/**
 * Requests that are reported like tool calls. "other": the method is not known, and stands in place of the
 * tool.
 */
export const ITEM_METHODS = [
  "prompts/get",
  "resources/read",
  "resources/subscribe",
  "completion/complete",
  "skills/get",
  "resources/directory/read",
  "other",
] as const;
export type ItemMethod = (typeof ITEM_METHODS)[number];

/**
 * A tool call as the caller made it. A tool that calls others (code, a chain) is a call too; the inner calls
 * have `via`.
 */
export interface CallBegun extends At {
  readonly type: "call.begun";
  /** Set if a prompt or resource was requested, not a tool. */
  readonly method?: ItemMethod | undefined;
  /** A counter of this process. */
  readonly id: number;
  readonly origin: Origin;
  /**
   * The id of the server; "metamcp" for MetaMCP's own tools. If the server is unknown, the name that the
   * caller wrote.
   */
  readonly server: string;
  /** The server's own name of the tool, the name of the prompt, or the URI of the resource. */
  readonly tool: string;
  readonly via?: "code" | "chain" | undefined;
  readonly trail: Trail;
}

export interface CallEnded extends Omit<CallBegun, "type"> {
  readonly type: "call.ended";
  readonly durationMs: number;
  /**
   * "refused": MetaMCP refused the call (unknown, invalid, forbidden, over a limit), and nothing reached the
   * server.
   */
  readonly outcome: "ok" | "error" | "refused";
  /** A code of the error table. */
  readonly code?: string | undefined;
  /** The code of the JSON-RPC error, if the server answered with one. */
  readonly rpcCode?: number | undefined;
  /** As the caller wrote them. */
  readonly arguments?: Raw | undefined;
  readonly result?: Raw | undefined;
  readonly requestBytes: number;
  readonly resultBytes: number;
  /** Unless the outcome is "ok". */
  readonly failure?: CallFailure | undefined;
}

/** Why a call failed or was refused. */
export interface CallFailure {
  /** In our words. */
  readonly reason?: string | undefined;
  /** In the words of the server, or of code: for people who may read results. */
  readonly error?: string | undefined;
  /** What the server's process printed last, for people who may read results. */
  readonly output?: string | undefined;
  /** The name in the list of all tools that the client used for a tool that is hidden from it. */
  readonly asked?: string | undefined;
  /** Of a call that did not reach a server: its arguments as the layers that mask would pass them on. */
  readonly arguments?: Raw | undefined;
}

/**
 * The state of one connection changed. Changes between busy and idle are not reported, because they happen
 * with each call.
 */
export interface ConnectionChanged extends At {
  readonly type: "connection";
  readonly server: string;
  /**
   * "started": its process runs, or its address answers. "closed" follows "failed" if a process or socket had
   * to be closed.
   */
  readonly state: ConnectionStep;
  readonly reason?: string;
  /** What its process printed last, for people who may read the output of servers. */
  readonly output?: string;
  readonly pid?: number;
  /** With "failed": the server requires login. */
  readonly login?: boolean;
  /** With "connecting": an earlier connection to the server was lost. */
  readonly restart?: boolean;
  /** With "failed" or "closed": how long it was connected. */
  readonly durationMs?: number;
}

/** A confined server opened a connection through its proxy, or was refused one. */
export interface EgressTried extends At {
  readonly type: "egress";
  readonly server: string;
  readonly host: string;
  readonly port: number;
  /** Why it was refused or failed. Undefined if it was made. */
  readonly refused?: string | undefined;
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
  /** The id gives access to the session, so only a hash of it may be shown. */
  readonly session: string;
  /** `clientInfo` of `initialize`. */
  readonly client?: Raw;
  readonly protocolVersion?: string;
  /** With "closed". */
  readonly durationMs?: number;
}

/** A client got a short list of tools instead of all tools. */
export interface ToolsListed extends At {
  readonly type: "listed";
  readonly endpoint: string;
  /** The session, or the principal if the client has none. */
  readonly caller: string;
  readonly sessionless: boolean;
  /** What a model gets of the list (`rpc/model-bytes.ts`). */
  readonly shownBytes: number;
  /** What a model would get of all tools that the client can call. */
  readonly allBytes: number;
}

export interface LoginTried extends At {
  readonly type: "login";
  readonly outcome: "ok" | "refused";
  /** Undefined if the person is unknown. */
  readonly principal?: Principal;
  /** With "refused": why, for administrators. The person is not told. */
  readonly reason?: string;
  /** With "refused": who tried, as they or the identity provider said. */
  readonly tried?: TriedLogin;
  /**
   * "password", "oidc", "setup", "invitation"; "oauth": a person allowed or refused a client; "server": at an
   * MCP server.
   */
  readonly by: string;
  readonly address?: string;
  /** The id of the HTTP request in the access log. */
  readonly request?: string;
  /** With "oauth": the client and the name of the requested endpoint. */
  readonly client?: string;
  readonly endpoint?: string;
  /** With "server". */
  readonly server?: NamedObject;
}

/** Requests with an unknown or expired credential were refused. Equal ones of a minute are one event. */
export interface CredentialRefused extends At {
  readonly type: "credential";
  readonly by: "key" | "token" | "cookie";
  readonly count: number;
  /** When the first of them was refused. */
  readonly since: number;
  /** The address, or the IPv6 network. Undefined if they came from too many to name them all. */
  readonly address?: string;
  /** Name of the requested endpoint. Undefined at the admin API, and if there is no such endpoint. */
  readonly endpoint?: string;
}

export interface TriedLogin {
  readonly email?: string;
  readonly subject?: string;
  /** Number of groups that the identity provider named. */
  readonly groups?: number;
}

/** A change by the admin API, or an attempt that the role of the caller did not allow. */
export interface AdminChange extends At {
  readonly type: "admin";
  readonly principal: Principal;
  /** "create", "update", "delete", "apply", "rollback", "revoke", "approve" … */
  readonly action: string;
  readonly object: { readonly kind: string; readonly uuid?: string; readonly name?: string };
  readonly revision?: number;
  readonly outcome: "ok" | "refused";
  /** The id of the HTTP request in the access log. */
  readonly request?: string;
}

/** A call began to wait for an approval, or the wait ended. Every gateway on the store emits it. */
export interface ApprovalChanged extends At {
  readonly type: "approval";
  readonly uuid: string;
  readonly state: "waiting" | "approved" | "refused" | "expired" | "withdrawn";
  /** `server:tool`. */
  readonly name: string;
  readonly endpoint: NamedObject;
  readonly principal: CallActor;
  readonly server: NamedObject;
  readonly tool: string;
  readonly reason: string;
  readonly expiresAt: string;
  readonly decidedBy?: Actor;
}

export interface RevisionServed extends At {
  readonly type: "revision";
  readonly revision: number;
  /** "this": the change was made by this gateway; "other": by another gateway on the same store. */
  readonly by: "this" | "other";
  readonly who?: Actor;
  readonly summary?: string;
  /** The first changes; `more` is the number of the others. */
  readonly changes?: readonly {
    readonly op: "create" | "update" | "delete";
    readonly kind: string;
    readonly uuid: string;
    readonly name: string;
  }[];
  readonly more?: number;
}

/** The list of a server changed. */
export interface ToolsChanged extends At {
  readonly type: "tools";
  readonly server: string;
  readonly toolCount: number;
}

/** The store became writable, or stopped being so. */
export interface StoreChanged extends At {
  readonly type: "store";
  readonly up: boolean;
  readonly reason?: string;
}

/** Records that do not belong to revisions were changed, at any gateway. */
export interface RecordsChanged extends At {
  readonly type: "changed";
  readonly of: "users" | "api-keys" | "provision-requests" | "approvals";
}

/** One step from the change of a server to the notification of clients. */
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
  /** Number of clients that were notified of a changed list. */
  readonly clients?: number;
}

/** A request from which a trace may be continued. */
export interface Traceable {
  /** The id of the JSON-RPC request. */
  readonly id?: Raw | undefined;
  readonly overNetwork?: boolean | undefined;
  readonly params: Raw | undefined;
  /** Headers of the HTTP request. */
  readonly trace?: TraceHeaders | undefined;
  /** The outer call, if this one is part of it. */
  readonly within?: TraceContext | undefined;
}

export class Events {
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  /** Makes the trace context of a call; undefined if traces are not collected. */
  tracer: ((request: Traceable) => TraceContext) | undefined;

  /** Whether anything listens. Check it before you make an event. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /** Calls all listeners synchronously. A listener must not throw or block, because calls wait for it. */
  emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns a function that removes the listener. */
  on(listener: (event: EngineEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
