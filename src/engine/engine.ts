/** The interface of the engine: its options and its functions. `create-engine.ts` creates it. */
import type { Catalog } from "../catalog/catalog.ts";
import type { ListStorage } from "../catalog/list-storage.ts";
import type { PinGate } from "../catalog/pins/pin-gate.ts";
import type { PinStorage } from "../catalog/pins/pin-storage.ts";
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Tool } from "../catalog/tool.ts";
import type { ChildUser } from "../child/child-user.ts";
import type { ConnectionCounts } from "../child/fleet.ts";
import type { LazyFleet } from "../child/lazy-fleet.ts";
import type { Connector } from "../child/link.ts";
import type { Placement } from "../child/placed/placement.ts";
import type { Withheld } from "../config/allowed.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import type { Env } from "../home/home.ts";
import type { Middleware } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ConcurrencyLimiter } from "../kernel/concurrency-limiter.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { Peers } from "../kernel/replica-ids.ts";
import type { Signal } from "../kernel/signal.ts";
import type { ExecutorChoice } from "../sandbox/choose.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { Session } from "../session/session.ts";
import type { SessionlessRequests } from "../session/sessionless-requests.ts";
import type { SurfaceKind } from "../surface/kind.ts";
import type { SurfaceLayers } from "../surface/layered-requests.ts";
import type { Scope } from "../surface/scope.ts";
import type { Surface } from "../surface/surface.ts";
import type { Host } from "../transport/transport.ts";
import type { ConfigLayers } from "./config-layers.ts";
import type { EngineCredentials } from "./credentials.ts";
import type { ProvisionOptions } from "./provisioning.ts";

export interface EngineOptions {
  readonly config: Config;
  /** METAMCP_HOME, the folder for all files of MetaMCP. */
  readonly home: string;
  readonly log: Log;
  readonly maxMessageBytes: number;
  /** Block tools that changed since the user approved them. */
  readonly pin?: boolean;
  /** Where the lists of servers are kept. Default: files in `home`. */
  readonly listStorage?: ListStorage | undefined;
  /** Where approved tools are kept. Default: files in `home`. */
  readonly pinStorage?: PinStorage | undefined;
  /** Whether the user reads the log. One-time messages are only logged then. */
  readonly userReadsLog?: boolean;
  /** Notify clients when their lists change. */
  readonly notify?: boolean;
  readonly clock?: Clock;
  /** The time for running calls when the process stops. Default: 5 s. */
  readonly drainMs?: number;
  /** Receives all events of the engine. */
  readonly events?: Events;
  /**
   * The key for ids and cursors that clients get. Processes with the same key accept each other's. Default: a
   * random one.
   */
  readonly secret?: Buffer;
  /**
   * The id of this process among those on the same store: letters and digits, other at each start. Undefined
   * if it is alone.
   */
  readonly replica?: string | undefined;
  /** The other processes on the store; undefined if it is alone. */
  readonly peers?: Peers | undefined;
  /** Where code runs; false turns code off. */
  readonly code?: ExecutorChoice | false;
  /** The user that local servers and code run as. Default: that of this process. */
  readonly childUser?: ChildUser | undefined;
  /** The variables that local servers and sources of secrets can inherit. Default: those of this process. */
  readonly inherited?: Env;
  /** The sources of new servers. Without it no server can be added. */
  readonly provision?: ProvisionOptions;
  /** Runs before a local server starts, which fails if it rejects. */
  readonly beforeStart?: ((spec: ServerSpec) => Promise<void>) | undefined;
  /** What clients know a server by. Default: its id. */
  readonly nameOf?: (server: string) => string;
  /** Default: the built-in search. */
  readonly search?: SearchStrategy;
  /** Runs code instead of the executor that `code` selects. */
  readonly executor?: Executor;
  /** Connectors by server, which are used instead of the server's entry. */
  readonly connectors?: ReadonlyMap<string, Connector>;
  /** Where servers run that may run only once. Without it they run here. */
  readonly placement?: Placement | undefined;
  /**
   * Called with each line that a child writes on stderr, with secrets masked. Texts for callers then contain
   * no output.
   */
  readonly onStderr?: (server: ServerSpec, line: string) => void;
  /** Called when a server is connected and has listed its tools. */
  readonly onConnected?: (server: string) => void;
  /** Middleware around every call, the first outermost. */
  readonly middleware?: readonly Middleware[];
  /** The layers for configs. Without it a config with layers is refused. */
  readonly layers?: ConfigLayers;
  /** The credentials of accounts at servers with credentials per account. */
  readonly credentials?: EngineCredentials;
  /**
   * Stores that the user allowed a withheld config, and returns the allowed config. Without it no client is
   * asked.
   */
  readonly allow?: ((withheld: Withheld) => Promise<Config>) | undefined;
}

export interface EndpointOptions {
  readonly id: string;
  readonly surface: SurfaceKind;
  /** What its clients may see and use. Default: everything. */
  readonly scope?: Scope;
  /** Set for an endpoint of a gateway. */
  readonly team?: {
    /** Text before our own instructions for clients. */
    readonly introduction: () => string;
    readonly limiter: ConcurrencyLimiter;
  };
  /** The layers around its requests. Default: those of the config. */
  readonly layers?: SurfaceLayers;
}

/** Serves the clients of one address. */
export interface Endpoint extends Host {
  /** Sessions whose handshake is complete. */
  readonly clients: readonly Session[];
  /** Creates the surface for a new client. */
  newSurface(): Surface;
  /** Serves requests without a session. */
  readonly sessionless: Pick<SessionlessRequests, "run">;
  /**
   * Lists may have changed: notifies the affected clients after a short pause. Resolves with their number.
   */
  changed(): Promise<number>;
  /** Refuses new requests. Resolves when running ones have ended or their time is up. */
  close(): Promise<void>;
}

export type DirectFleet = Pick<
  LazyFleet,
  "handle" | "shakeHands" | "setLogLevel" | "notify" | "sessionEnded"
>;

export interface Engine {
  /** The scope of the whole engine. Endpoints may narrow it. */
  readonly scope: Scope;
  readonly catalog: Catalog;
  readonly events: Events;
  /** The servers themselves, without rules and limits. */
  readonly fleet: DirectFleet;
  /** The number of connections by state, and of those that wait for a slot in the pool. */
  connections(): ConnectionCounts;
  /** The servers to which this session has an open connection. */
  heldBy(session: string): readonly string[];
  /** The tools that the user approved. */
  readonly pins: Pick<PinGate, "review" | "approve" | "settled" | "enforced" | "signs" | "approveSigns">;
  /** Opens another endpoint. */
  open(options: EndpointOptions): Endpoint;
  /** Applies another config. Unchanged servers are not touched. */
  apply(config: Config): void;
  /**
   * Resolves when the server is connected: for its previous callers, otherwise without a caller. `anew`
   * replaces existing connections.
   */
  ensureConnected(server: string, anew?: boolean): Promise<void>;
  /**
   * Credentials of this account changed: closes connections that are not valid any more, and updates the
   * lists of its clients.
   */
  credentialsChanged(account: string): void;
  /** Starts a server only to list its tools, and stops it. */
  trial(spec: ServerSpec, signal: Signal): Promise<readonly Tool[]>;
  /** Sets why the config file cannot be used; undefined if it can. */
  fault(message: string | undefined): void;
  /**
   * Refuses new requests, lets running calls finish, for `drainMs` if no time is given, and ends all
   * children.
   */
  close(withinMs?: number): Promise<void>;
  /** Kills all children and blocks until that is done, for a process that must exit at once. */
  killNow(): void;
}
