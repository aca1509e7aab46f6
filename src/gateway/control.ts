/** What the admin API and the command line ask of a running gateway. */
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

/** How a server is reached at the moment. */
export interface ConnectionStatus {
  readonly state: "idle" | "connecting" | "active" | "failed" | "closed" | "disabled";
  readonly connected: boolean;
  readonly toolCount: number;
  readonly reason?: string;
  readonly retryAfterMs?: number;
  /** Since when it is so, ISO 8601; undefined where nothing happened to it since the gateway started. */
  readonly since?: string;
  /** It is down until somebody logs in there. */
  readonly needsLogin?: true;
  /** How many of its processes run, where it may have several. */
  readonly instances?: number;
}

/** What became of a connection of a server. */
export interface StatusEntry {
  /** ISO 8601. */
  readonly at: string;
  readonly state: "connecting" | "started" | "connected" | "failed" | "closed";
  readonly reason?: string;
  readonly pid?: number;
  /** It failed for want of a login. */
  readonly login?: boolean;
}

export interface Changed {
  /** The one that was made; the current one where nothing changed or it was a dry run. */
  readonly revision: number;
  readonly changes: readonly ChangeRow[];
  /** By uuid: servers whose way to be reached changed, after they were connected anew (10 s at most). */
  readonly connections: ReadonlyMap<string, ConnectionStatus>;
  /** Uuids of the namespaces whose views were compiled anew. */
  readonly namespaces: readonly string[];
}

/** A pure change, as `changes.ts`, `import-servers.ts` and `document/` make them. Throws a Refusal. */
export type Make<T extends ChangeOutcome> = (objects: Objects, context: ChangeContext) => T;

export interface Revision {
  readonly n: number;
  /** ISO 8601. */
  readonly at: string;
  readonly who: Actor;
  readonly summary: string;
}

/** The layers that there are. */
export type LayerCatalog = Pick<LayerRegistry, "describe">;

/** What was approved of the tools that servers list. */
export type PinControl = Pick<PinGate, "enforced" | "review" | "approve">;

/** What has tools. */
export interface ToolPlace {
  readonly kind: "server" | "namespace" | "endpoint";
  readonly uuid: string;
}

export interface ToolDefinitions {
  /** As it is shown there; undefined while the server has not listed it. */
  readonly definition?: unknown;
  /** As its server lists it, where that is something else. */
  readonly own?: unknown;
}

export interface GatewayControl {
  readonly revision: number;
  readonly compiled: Compiled;
  /**
   * Stores the change as one revision and makes it effective, or changes nothing. One at a time; made again on top of
   * a revision that another gateway on the same store made meanwhile. Rejects with Refusal or StoreError.
   */
  change<T extends ChangeOutcome>(
    actor: Actor,
    make: Make<T>,
    options?: { readonly dryRun?: boolean; readonly summary?: string },
  ): Promise<Changed & { readonly outcome: T }>;
  /** Newest first. */
  revisions(page?: { readonly before?: number; readonly limit?: number }): Promise<readonly Revision[]>;
  /** A revision with the objects right after it. */
  revisionAt(n: number): Promise<(Revision & { readonly objects: Objects }) | undefined>;
  statusOf(server: string): ConnectionStatus;
  /** What became of its connections lately, newest first. */
  historyOf(server: string): readonly StatusEntry[];
  /** Connects anew, also where it is connected. */
  connect(server: string): Promise<ConnectionStatus>;
  /** `as`: for whom; what holds for everybody unless given. */
  toolsOf(place: ToolPlace, as?: Principal): readonly ToolRow[];
  /** Of one of these rows. */
  definitionsOf(place: ToolPlace, row: Pick<ToolRow, "server" | "tool">): ToolDefinitions;
  /** All tools of all servers, and what each namespace makes of them. */
  toolTable(): readonly TableRow[];
  /** The last lines of a server's stderr, secrets masked. */
  logsOf(server: string): readonly string[];
}

/** A call of a tool as its server has it. */
export interface Inspected {
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
  /** What was found, or what is wrong. */
  readonly detail: string;
  readonly ms?: number;
}

export interface SelfTest {
  readonly ok: boolean;
  /** The address that was tried. */
  readonly url: string;
  readonly steps: readonly SelfTestStep[];
}

/** An endpoint as a client is told of it. */
export interface Remote {
  /** What the server is called there. */
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Pasted {
  readonly client: string;
  readonly title: string;
  /** Where it goes. */
  readonly file: string;
  readonly text: string;
}

/** What administrators try out. */
export interface Trying {
  /** Where clients reach the gateway. */
  readonly url: string;
  /** The CallToolResult, also where it failed. */
  inspect(wanted: Inspected): Promise<unknown>;
  /** What to paste into each client that is known. */
  clients(remote: Remote): Promise<readonly Pasted[]>;
  selfTest(endpoint: CompiledEndpoint): Promise<SelfTest>;
}

/** A server that somebody wants at an endpoint and may not add. */
export interface ProvisionRequest {
  readonly uuid: string;
  readonly state: "pending" | "approved" | "refused";
  /** ISO 8601. */
  readonly at: string;
  readonly endpoint: { readonly uuid: string; readonly name: string };
  readonly principal: Actor;
  /** What it is wanted for. */
  readonly intent: string;
  /** Of the server, as the registry or the gallery has it. */
  readonly id: string;
  readonly name: string;
  /** What would run, word for word. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Variables that nobody has set. */
  readonly missing: readonly string[];
  readonly decidedAt?: string;
  readonly by?: Actor;
  readonly reason?: string;
  /** The one that it became. */
  readonly server?: { readonly uuid: string; readonly name: string };
}

export interface ProvisionApproval {
  readonly by: Actor;
  readonly signal: Signal;
  /** A uuid or a name; the endpoint's first unless given. */
  readonly namespace?: string | undefined;
  /** Of variables, by name. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

export interface OfferWanted {
  /** The task, or the name of a server; all unless given. */
  readonly query: string;
  /** Only from there. */
  readonly from?: "registry" | "gallery" | undefined;
}

/** Servers that could be had, and who asked for which. */
export interface MarketControl {
  search(wanted: OfferWanted): Promise<{ readonly items: readonly object[]; readonly notice?: string }>;
  requests(): Promise<readonly ProvisionRequest[]>;
  /** Tries it, adds it, and remembers who said yes. Rejects with Refusal. */
  approve(uuid: string, approval: ProvisionApproval): Promise<ProvisionRequest>;
  refuse(
    uuid: string,
    decision: { readonly by: Actor; readonly reason?: string | undefined },
  ): Promise<ProvisionRequest>;
}

/** A call that waits, or waited, for a yes of somebody else. */
export interface Approval {
  readonly uuid: string;
  readonly state: "waiting" | "approved" | "refused" | "expired" | "withdrawn";
  /** `server:tool`. */
  readonly name: string;
  /** ISO 8601. */
  readonly at: string;
  readonly expiresAt: string;
  readonly endpoint: { readonly uuid: string; readonly name: string };
  /** Who called, with which key, and who really did where somebody tried it out in their name. */
  readonly principal: Actor & {
    readonly key?: { readonly id: string; readonly name: string };
    readonly actor?: Actor;
  };
  readonly via?: "code" | "chain";
  readonly server: { readonly uuid: string; readonly name: string };
  /** The server's own name of it. */
  readonly tool: string;
  /** As the rule judged them, plain secrets masked. */
  readonly arguments: unknown;
  /** Why a yes is needed. */
  readonly reason: string;
  /** Who may decide, beside administrators. */
  readonly by: { readonly roles?: readonly string[]; readonly groups?: readonly string[] };
  /** Whether whoever asks may decide it now. */
  readonly decidable: boolean;
  readonly decidedAt?: string;
  readonly decidedBy?: Actor;
  readonly comment?: string;
}

export interface ApprovalControl {
  /** Those that this principal may decide or made. */
  list(principal: Principal): readonly Approval[];
  /** Once. Rejects with Refusal. */
  decide(
    uuid: string,
    decision: {
      readonly approve: boolean;
      readonly principal: Principal;
      readonly comment?: string | undefined;
    },
  ): Promise<Approval>;
}
