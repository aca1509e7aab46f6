/** What a surface may see and use. The same for all surfaces; an endpoint may narrow it, never widen it. */

import type { CatalogLoader } from "../catalog/catalog-loader.ts";
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { ToolChange } from "../catalog/pins/change.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import type { Events } from "../kernel/events.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import type { Severity } from "../kernel/severity.ts";
import type { Signal } from "../kernel/signal.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { ResultStore } from "./result/store.ts";
import type { ClientRequest } from "./surface.ts";
import type { Tasks } from "./task/tasks.ts";

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
  /** Why this client is not let in, where each account is let in as itself. */
  readonly refusal?: MetaMcpError;
  /** It cannot be used until the config is fixed. */
  readonly misconfigured?: boolean;
  /** How many of its processes run, where it may have several. */
  readonly instances?: number;
}

/** What is configured of a server, as far as surfaces go by it. */
export interface ServerRules extends Pick<ServerSpec, "examples" | "tools"> {
  /** What stands before its names in a list of all: `server`, `none`, or a text of its own. */
  readonly prefix: string;
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

/** A login of an account at a server. */
export interface OwnLogin {
  readonly url: string;
  /** Resolves once the account is let in otherwise than it was; rejects with the signal's reason. */
  done(signal: Signal): Promise<void>;
}

export interface ToolTarget {
  readonly server: ServerId;
  readonly tool: string;
}

export interface Scope {
  /** What a client sees of the tools there are. The same object for clients of one kind. */
  view(asker: Asker): CatalogView;
  readonly loader: Pick<CatalogLoader, "learn" | "learnOwn">;
  readonly call: Handler;
  /** Hears of every call. */
  readonly events: Events;
  /** What a client calls this tool, in the words of the engine. What means nothing here stays as it is written. */
  target(server: ServerId, tool: string, asker: Asker): ToolTarget;
  /** What layers make of tools of ours; undefined where nothing stands there. */
  readonly own?: {
    /** It does not exist for this client. */
    hides(tool: string, asker: Asker): boolean;
    /** Stands around a call of one that is called like those of a child. */
    around(tool: string, request: ClientRequest, run: () => Promise<Raw>): Promise<Raw>;
  };
  readonly log: Log;
  readonly clock: Clock;
  /** Results that are too large to be shown. */
  readonly results: ResultStore;
  /** Calls that clients come back for. */
  readonly tasks: Tasks;
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
  /** How this client finds them; for all together where none is named. */
  servers(asker?: Asker): readonly ServerStatus[];
  /** The servers that can be used, in their order; the same object until the config changes. */
  specs(): ReadonlyMap<ServerId, ServerRules>;
  /** A server of that name is configured and can be used. */
  has(name: string): boolean;
  /** Whether the rules of the config let this client use this tool, known or not. */
  permits(server: ServerId, tool: string, asker: Asker): boolean;
  /** The server is connected for clients like this one, so that what the catalog knows is what it offers now. */
  connected(server: ServerId, origin: Origin): boolean;
  /** Tools of a server that are not as the user approved them, and are kept out of use where `enforced`. */
  readonly pins: {
    readonly enforced: boolean;
    unapproved(server: ServerId, asker: Asker): readonly ToolChange[];
    /** Every list that came was compared. */
    settled(): Promise<void>;
  };
  server(name: string, asker?: Asker): ServerStatus | undefined;
  /** Where the person at this client logs in at a server that lets each account in as itself; undefined where it is none. */
  login?(server: ServerId, origin: Origin): OwnLogin | undefined;
  /** What the operator should know: no config file, a file that cannot be read at the moment. */
  notice(): string | undefined;
  /** The client wants log messages of children from this severity on. */
  setLogLevel(origin: Origin, level: Severity): void;
  /** Passes a notification of the client on to the children on its connections. */
  notify(origin: Origin, method: string, params: Raw | undefined): void;
}
