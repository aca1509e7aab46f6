/** What a surface may see and use. The same for all surfaces; an endpoint may narrow it, never widen it. */
import type { Catalog } from "../catalog/catalog.ts";
import type { Learner } from "../catalog/learn.ts";
import type { ToolChange } from "../catalog/pins/change.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { ResultStore } from "./result/store.ts";

/** One configured server as a person or a model sees it. */
export interface ServerStatus {
  readonly name: ServerId;
  readonly state: "idle" | "connecting" | "active" | "failed" | "closed";
  readonly connected: boolean;
  readonly criticality: "vital" | "optional";
  /** Why it is down or takes long. */
  readonly reason?: string | undefined;
  /** It is left alone for so long. */
  readonly retryAfterMs?: number;
  /** It cannot be used until the config is mended. */
  readonly misconfigured?: boolean;
}

/** What a client looks for in servers that are not there yet. */
export interface WantedServer {
  readonly intent: string;
  readonly context?: string | undefined;
  /** Add one where that is allowed. */
  readonly autoProvision: boolean;
}

export interface Seeker {
  readonly origin: Origin;
  readonly signal: Signal;
  /** Puts a question to the person; undefined where the client cannot. */
  readonly ask: ((question: string) => Promise<"yes" | "no" | "none">) | undefined;
  /** Hears what is under way. */
  report(message: string): void;
}

export interface Scope {
  readonly catalog: Catalog;
  readonly learner: Learner;
  readonly call: Handler;
  readonly log: Log;
  readonly clock: Clock;
  /** Results that are too large to be shown. */
  readonly results: ResultStore;
  /** What shows what there is, for hints; undefined where each surface has its own. */
  readonly finder?: string;
  /** The largest result of a child that is shown whole, as configured. */
  maxResultBytes(): number | undefined;
  /** Arguments that worked before, newest first; none unless the user wants them kept. */
  usageOf(server: ServerId, tool: string): Promise<readonly Raw[]>;
  /** What runs code; undefined where code is not to be run. */
  readonly code?: Executor | undefined;
  /** Finds servers that could be had, and may add one; undefined where none are to be had. The answer is plain JSON. */
  readonly provision?: ((wanted: WantedServer, seeker: Seeker) => Promise<object>) | undefined;
  /** Connects and lists, so that what the catalog knows of the server is fresh. */
  connect(server: ServerId, origin: Origin): Promise<Lease>;
  servers(): readonly ServerStatus[];
  /** The servers that can be used, in their order; the same object until the config changes. */
  specs(): ReadonlyMap<ServerId, Pick<ServerSpec, "prefix" | "examples" | "tools">>;
  /** A server of that name is configured and can be used. */
  has(name: string): boolean;
  /** Whether the rules of the config let this tool be used, known or not. */
  permits(server: ServerId, tool: string): boolean;
  /** Tools of a server that are not as the user approved them, and are kept out of use where `enforced`. */
  readonly pins: {
    readonly enforced: boolean;
    unapproved(server: ServerId): readonly ToolChange[];
    /** Every list that came was compared. */
    settled(): Promise<void>;
  };
  server(name: string): ServerStatus | undefined;
  /** What the operator should know: no config file, a file that cannot be read at the moment. */
  notice(): string | undefined;
  /** The client wants log messages of children from this severity on. */
  setLogLevel(origin: Origin, level: Severity): void;
  /** Passes a notification of the client on to the children on its connections. */
  notify(origin: Origin, method: string, params: Raw | undefined): void;
}
