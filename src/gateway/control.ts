/** The interfaces through which the admin API controls a running gateway. */
import type { PinGate } from "../catalog/pins/pin-gate.ts";
import type { Actor, Principal } from "../kernel/principal.ts";
import type { Signal } from "../kernel/signal.ts";
import type { LayerRegistry } from "../middleware/registry.ts";
import type { Compiled, CompiledEndpoint } from "./compile.ts";
import type { Objects } from "./objects.ts";
import type { ChangeContext, ChangeOutcome, ChangeRow } from "./settle.ts";
import type { ToolRow } from "./view/tool-row.ts";
import type { TableRow } from "./view/tool-table.ts";

export type { Actor } from "../kernel/principal.ts";

/** The state of the connection to a server. */
export interface ConnectionStatus {
  readonly state: "idle" | "connecting" | "active" | "failed" | "closed" | "disabled";
  readonly connected: boolean;
  readonly toolCount: number;
  readonly reason?: string;
  /** What the process printed before it failed. Only for who may read the output of servers. */
  readonly output?: string;
  readonly retryAfterMs?: number;
  /** Since when it has this state, ISO 8601; undefined if nothing happened since the gateway started. */
  readonly since?: string;
  /** The server fails until somebody logs in. */
  readonly needsLogin?: true;
  /** The number of running processes, if the server may have several. */
  readonly instances?: number;
}

/** A change of state of a connection to a server. */
export interface StatusEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly state: "connecting" | "started" | "connected" | "failed" | "closed";
  readonly reason?: string;
  /** As in `ConnectionStatus`. */
  readonly output?: string;
  readonly pid?: number;
  /** It failed because a login is missing. */
  readonly login?: boolean;
}

export interface Changed {
  /** The new revision; the current one if nothing changed or for a dry run. */
  readonly revision: number;
  readonly changes: readonly ChangeRow[];
  /** By uuid: servers whose connection settings changed, after reconnecting (at most 10 s). */
  readonly connections: ReadonlyMap<string, ConnectionStatus>;
  /** Uuids of the namespaces that were compiled again. */
  readonly namespaces: readonly string[];
}

/** A pure function that makes a change, as in `changes.ts`, `import-servers.ts` and `document/`. Throws a Refusal. */
export type ComputeChange<T extends ChangeOutcome> = (objects: Objects, context: ChangeContext) => T;

export interface Revision {
  readonly n: number;
  /** ISO 8601. */
  readonly at: string;
  readonly who: Actor;
  readonly summary: string;
}

/** All available layers. */
export type LayerCatalog = Pick<LayerRegistry, "describe" | "guards">;

/** The approved tools of servers. */
export type PinControl = Pick<PinGate, "enforced" | "review" | "approve">;

/** An object that has tools. */
export interface ToolPlace {
  readonly kind: "server" | "namespace" | "endpoint";
  readonly uuid: string;
}

export interface ToolDefinitions {
  /** As the object shows the tool; undefined while the server has not listed it. */
  readonly definition?: unknown;
  /** As the server lists it, if that differs. */
  readonly own?: unknown;
}

export interface GatewayControl {
  readonly revision: number;
  readonly compiled: Compiled;
  /**
   * Stores the change as one revision and applies it, or changes nothing. Changes run one after the other. If another
   * gateway on the same store made a revision meanwhile, the change is made again on top of it. Rejects with Refusal or
   * StoreError.
   */
  change<T extends ChangeOutcome>(
    actor: Actor,
    make: ComputeChange<T>,
    options?: { readonly dryRun?: boolean; readonly summary?: string },
  ): Promise<Changed & { readonly outcome: T }>;
  /** Newest first. */
  revisions(page?: { readonly before?: number; readonly limit?: number }): Promise<readonly Revision[]>;
  /** A revision with the objects right after it. */
  revisionAt(n: number): Promise<(Revision & { readonly objects: Objects }) | undefined>;
  statusOf(server: string): ConnectionStatus;
  /** The last state changes of its connections, newest first. */
  historyOf(server: string): readonly StatusEntry[];
  /** Replaces the connection, even if the server is connected. */
  connect(server: string): Promise<ConnectionStatus>;
  /** `as` is the principal to judge for. Without it the rows show what holds for everybody. */
  toolsOf(place: ToolPlace, as?: Principal): readonly ToolRow[];
  /** The definitions of a tool that `toolsOf` returned. */
  definitionsOf(place: ToolPlace, row: Pick<ToolRow, "server" | "tool">): ToolDefinitions;
  /** All tools of all servers, with their state in each namespace. */
  toolTable(): readonly TableRow[];
  /** The last lines of a server's stderr, secrets masked. */
  logsOf(server: string): readonly string[];
}

/** A call of a tool directly at its server, without endpoint and namespace. */
export interface InspectRequest {
  /** uuid. */
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly signal: Signal;
}

export interface SelfTestStep {
  readonly step: string;
  readonly ok: boolean;
  /** The finding or the problem. */
  readonly detail: string;
  readonly ms?: number;
}

export interface SelfTest {
  readonly ok: boolean;
  /** The tested URL. */
  readonly url: string;
  readonly steps: readonly SelfTestStep[];
}

/** An endpoint as an entry in the config of a client. */
export interface Remote {
  /** The name of the entry. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The text to paste into the config of one client. */
export interface ClientSnippet {
  readonly client: string;
  readonly title: string;
  /** The file to paste it into. */
  readonly file: string;
  readonly text: string;
}

/** Tools for administrators to test servers and endpoints. */
export interface InspectorControl {
  /** The URL of the gateway for clients. */
  readonly url: string;
  /** Resolves with a CallToolResult, even if the call failed. */
  inspect(request: InspectRequest): Promise<unknown>;
  /** The config entry for each known client. */
  clients(remote: Remote): Promise<readonly ClientSnippet[]>;
  selfTest(endpoint: CompiledEndpoint): Promise<SelfTest>;
}

/** A request for a server at an endpoint, made by somebody who may not add it. */
export interface ProvisionRequest {
  readonly uuid: string;
  readonly state: "pending" | "approved" | "refused";
  /** ISO 8601. */
  readonly at: string;
  readonly endpoint: { readonly uuid: string; readonly name: string };
  readonly principal: Actor;
  /** The task that it is for. */
  readonly intent: string;
  /** The id of the server in the registry or gallery. */
  readonly id: string;
  readonly name: string;
  /** The exact config entry that would run. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Variables that are not set. */
  readonly missing: readonly string[];
  readonly decidedAt?: string;
  readonly by?: Actor;
  readonly reason?: string;
  /** The server that was added. */
  readonly server?: { readonly uuid: string; readonly name: string };
}

export interface ProvisionApproval {
  readonly by: Actor;
  readonly signal: Signal;
  /** A uuid or a name. Default: the first namespace of the endpoint. */
  readonly namespace?: string | undefined;
  /** Values of variables, by name. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

export interface OfferQuery {
  /** A task or the name of a server; empty for all. */
  readonly query: string;
  /** Search only this source. */
  readonly from?: "registry" | "gallery" | undefined;
}

/** Servers that can be added, and the requests for them. */
export interface ProvisioningControl {
  search(query: OfferQuery): Promise<{ readonly items: readonly object[]; readonly notice?: string }>;
  requests(): Promise<readonly ProvisionRequest[]>;
  /** Tests and adds the server, and records who approved it. Rejects with Refusal. */
  approve(uuid: string, approval: ProvisionApproval): Promise<ProvisionRequest>;
  refuse(
    uuid: string,
    decision: { readonly by: Actor; readonly reason?: string | undefined },
  ): Promise<ProvisionRequest>;
}

/** A call that waits, or waited, for an approval. */
export interface Approval {
  readonly uuid: string;
  readonly state: "waiting" | "approved" | "refused" | "expired" | "withdrawn";
  /** `server:tool`. */
  readonly name: string;
  /** ISO 8601. */
  readonly at: string;
  readonly expiresAt: string;
  readonly endpoint: { readonly uuid: string; readonly name: string };
  /** The caller, with the key. `actor` is the administrator who made the call as this principal. */
  readonly principal: Actor & {
    readonly key?: { readonly id: string; readonly name: string };
    readonly actor?: Actor;
  };
  readonly via?: "code" | "chain";
  readonly server: { readonly uuid: string; readonly name: string };
  /** The server's own name of the tool. */
  readonly tool: string;
  /** As the rule judged them, with plain secrets masked. */
  readonly arguments: unknown;
  /** Why an approval is needed. */
  readonly reason: string;
  /** Who may decide, beside administrators. */
  readonly by: { readonly roles?: readonly string[]; readonly groups?: readonly string[] };
  /** Whether the requesting principal may decide it now. */
  readonly decidable: boolean;
  readonly decidedAt?: string;
  readonly decidedBy?: Actor;
  readonly comment?: string;
}

export interface ApprovalControl {
  /** The approvals that this principal may decide or has asked for. */
  list(principal: Principal): readonly Approval[];
  /** Can be done once. Rejects with Refusal. */
  decide(
    uuid: string,
    decision: {
      readonly approve: boolean;
      readonly principal: Principal;
      readonly comment?: string | undefined;
    },
  ): Promise<Approval>;
}
