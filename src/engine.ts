/** The engine as others see it: what it is given, and what it offers. `main.ts` makes it. */
import type { Catalog } from "./catalog/catalog.ts";
import type { PinGate } from "./catalog/pins/pin-gate.ts";
import type { SearchStrategy } from "./catalog/search/strategy.ts";
import type { Tool } from "./catalog/tool.ts";
import type { ConnectionCounts } from "./child/fleet.ts";
import type { Connector } from "./child/link.ts";
import type { Withheld } from "./config/allowed.ts";
import type { Config, ServerSpec } from "./config/spec.ts";
import type { ConfigLayers } from "./config-layers.ts";
import type { EngineCredentials } from "./engine-credentials.ts";
import type { Middleware } from "./kernel/call.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Events } from "./kernel/events.ts";
import type { Log } from "./kernel/log.ts";
import type { Room } from "./kernel/room.ts";
import type { Signal } from "./kernel/signal.ts";
import type { ProvisionOptions } from "./provisioning.ts";
import type { ExecutorChoice } from "./sandbox/choose.ts";
import type { Executor } from "./sandbox/executor.ts";
import type { LoneRequests } from "./session/lone-requests.ts";
import type { Session } from "./session/session.ts";
import type { SurfaceName } from "./surface/choose.ts";
import type { Scope } from "./surface/scope.ts";
import type { Surface } from "./surface/surface.ts";
import type { Host } from "./transport/transport.ts";

export interface EngineOptions {
  readonly config: Config;
  /** METAMCP_HOME: where everything of ours is kept. */
  readonly home: string;
  readonly log: Log;
  readonly maxMessageBytes: number;
  /** Keep tools that are not as the user approved them out of use. */
  readonly pin?: boolean;
  /** The user reads the log, so that it may tell what must be told once. */
  readonly tell?: boolean;
  /** Tell clients when a list of theirs changes. */
  readonly notify?: boolean;
  readonly clock?: Clock;
  /** Where what happens is told. */
  readonly events?: Events;
  /** What ids that clients are given are sealed with; processes that share it read each other's. */
  readonly secret?: Buffer;
  /** Where code runs; false: nowhere. */
  readonly code?: ExecutorChoice | false;
  /** Where new servers come from; without it none are to be had. */
  readonly provision?: ProvisionOptions;
  /** How tools are ranked; the built-in way unless given. */
  readonly search?: SearchStrategy;
  /** Who runs code, in place of what `code` chooses. */
  readonly executor?: Executor;
  /** By server: who reaches it, in place of what its entry says. */
  readonly connectors?: ReadonlyMap<string, Connector>;
  /** Hears what children write on stderr, secrets masked. */
  readonly onStderr?: (server: ServerSpec, line: string) => void;
  /** A server is connected and has listed its tools. */
  readonly onConnected?: (server: string) => void;
  /** Around every call of a client, the first outermost. */
  readonly middleware?: readonly Middleware[];
  /** What the config names as layers; a config that names some cannot be used without. */
  readonly layers?: ConfigLayers;
  /** What accounts are let in with at servers that know each of them. */
  readonly credentials?: EngineCredentials;
  /** Remembers that the user allowed what the config withholds, and gives the config as it then is. Without it no client is asked. */
  readonly allow?: ((withheld: Withheld) => Promise<Config>) | undefined;
}

export interface EndpointOptions {
  readonly id: string;
  readonly surface: SurfaceName;
  /** What its clients may see and use; all there is unless given. */
  readonly scope?: Scope;
  /** Of an endpoint of a gateway. */
  readonly team?: {
    /** Told to its clients before our own instructions. */
    readonly introduction: () => string;
    readonly room: Room;
  };
  /** What stands around what its clients ask. */
  readonly around?: (surface: Surface) => Surface;
}

/** What clients of one address are served by. */
export interface Endpoint extends Host {
  /** Clients with a session, once their handshake is done. */
  readonly clients: readonly Session[];
  /** What a new client would see. */
  newSurface(): Surface;
  /** Serves a request that belongs to no session. */
  readonly lone: Pick<LoneRequests, "run">;
  /** What its clients see may have changed: they hear of it in a moment, if it did. Resolves with how many did. */
  changed(): Promise<number>;
  /** Refuses new work, and resolves when what is under way is answered or has had its time. */
  close(): Promise<void>;
}

export interface Engine {
  /** All there is, for whoever narrows it. */
  readonly scope: Scope;
  readonly catalog: Catalog;
  /** What happens, as it happens. */
  readonly events: Events;
  /** How many connections there are, by state, and how many wait for a place. */
  connections(): ConnectionCounts;
  /** The servers that a client with this session has an open connection to. */
  heldBy(session: string): readonly string[];
  /** What the user approved of the tools. */
  readonly pins: Pick<PinGate, "review" | "approve" | "settled" | "enforced">;
  /** Serves clients of one more address. */
  open(options: EndpointOptions): Endpoint;
  /** Takes another config; nothing that did not change is touched. */
  apply(config: Config): void;
  /** Resolves once the server is connected, for whom it was or else for nobody in particular; `anew`: also where it is. */
  ensureConnected(server: string, anew?: boolean): Promise<void>;
  /** What this account is let in with is something else: where it no longer is, it is disconnected, and its clients see what is theirs. */
  credentialsChanged(account: string): void;
  /** Starts a server apart from all others, to see what it offers; nothing of it stays. */
  trial(spec: ServerSpec, signal: Signal): Promise<readonly Tool[]>;
  /** The config file cannot be used at the moment, and why; undefined once it is mended. */
  fault(message: string | undefined): void;
  /** Refuses new work, lets calls under way finish, ends all children. */
  close(): Promise<void>;
  /** Kills all children, blocking: for a process that can wait for nothing any more. */
  killNow(): void;
}
