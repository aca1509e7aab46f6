/**
 * What a surface may see and use. All surfaces get the same interface; an endpoint may narrow it, never widen
 * it.
 */

import type { CatalogLoader } from "../catalog/catalog-loader.ts";
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { ToolChange } from "../catalog/pins/change.ts";
import type { ServerSpec } from "../config/spec.ts";
import type { Call, Handler, Lease, Origin, ServerId } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import type { MetaMcpError } from "../kernel/errors.ts";
import type { Events } from "../kernel/events.ts";
import type { Asker } from "../kernel/list-key.ts";
import type { Log } from "../kernel/log.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ServerStatus } from "../kernel/server-status.ts";
import type { Severity } from "../kernel/severity.ts";
import type { Signal } from "../kernel/signal.ts";
import type { LayerReason } from "../middleware/list-rules.ts";
import type { Executor } from "../sandbox/executor.ts";
import type { Cursors } from "./cursor.ts";
import type { ResultStore } from "./result/store.ts";
import type { ClientRequest } from "./surface.ts";
import type { Tasks } from "./task/tasks.ts";

/** The config of a server that surfaces use. */
export interface ServerRules extends Pick<ServerSpec, "examples" | "tools"> {
  /** Prefix of its names in an aggregate list: `server`, `none`, or a custom text. */
  readonly prefix: string;
}

/** A request to find servers that are not configured yet. */
export interface ServerSearch {
  readonly intent: string;
  readonly context?: string | undefined;
  /** Add a server if that is allowed. */
  readonly autoProvision: boolean;
}

/** The client that makes a provision request. */
export interface ProvisionCaller {
  readonly origin: Origin;
  readonly signal: Signal;
  /** Asks the person at the client; undefined if the client does not support questions. */
  readonly ask: ((question: string) => Promise<"yes" | "no" | "none">) | undefined;
  /** Reports progress. */
  report(message: string): void;
}

/** A login of an account at a server. */
export interface AccountLogin {
  readonly url: string;
  /**
   * Resolves when the credentials of the account at the server have changed; rejects with the signal's
   * reason.
   */
  done(signal: Signal): Promise<void>;
}

export interface ToolTarget {
  readonly server: ServerId;
  readonly tool: string;
}

/** What hides a tool, and which tool it is, as far as that is known. */
export interface HiddenTool extends LayerReason {
  readonly target?: ToolTarget | undefined;
}

/** The catalog of a scope: what a client may see. */
export interface ScopeCatalog {
  /** The part of the catalog that a client sees. Clients that see the same get the same object. */
  view(asker: Asker): CatalogView;
  readonly loader: Pick<CatalogLoader, "loadMissing" | "loadMissingOwn">;
  /** The usable servers in configured order. The same object until the config changes. */
  specs(): ReadonlyMap<ServerId, ServerRules>;
  /** A server of that name is configured and usable, and something of it is visible to this client. */
  has(name: string, asker?: Asker): boolean;
  /** Whether the config allows this client to use this tool, whether or not the tool is known. */
  permits(server: ServerId, tool: string, asker: Asker): boolean;
  /** The status of all servers for this client, or in general without one. */
  servers(asker?: Asker): readonly ServerStatus[];
  server(name: string, asker?: Asker): ServerStatus | undefined;
  /** Tools that differ from what the user approved. They are blocked if `enforced`. */
  readonly pins: {
    readonly enforced: boolean;
    unapproved(server: ServerId, asker: Asker): readonly ToolChange[];
    /** The same of prompts and instructions. */
    unapprovedTexts(server: ServerId, asker: Asker): readonly ToolChange[];
    /** Resolves when every received list has been compared. */
    settled(): Promise<void>;
  };
  /** Arguments of earlier successful calls, newest first. Empty unless the user allows them to be kept. */
  usageOf(server: ServerId, tool: string): Promise<readonly Raw[]>;
  /** A layer hides the builtin tool from this client. */
  hidesOwn?(tool: string, asker: Asker): boolean;
  /** The name of the tool that finds tools, for hints; undefined if each surface has its own. */
  readonly finder?: string;
}

/** The calls of a scope: how requests of a client reach servers, and how they are recorded. */
export interface ScopeCalls {
  readonly call: Handler;
  /** Translates names of a client to names of the engine. Unknown names stay as they are. */
  target(server: ServerId, tool: string, asker: Asker): ToolTarget;
  /** Runs the layers around a builtin tool that is called like a child's tool. */
  aroundBuiltin?(tool: string, request: ClientRequest, run: () => Promise<Raw>): Promise<Raw>;
  /**
   * Counts a call that was refused before it reached the layers. Returns another refusal if the caller is
   * over a limit.
   */
  refused?(call: Pick<Call, "server" | "method" | "tool" | "origin">): MetaMcpError | undefined;
  /**
   * What hides a tool, or a whole server, from this client. Only for records: the client must not learn it.
   */
  hiding?(server: ServerId, tool: string, origin: Origin): HiddenTool | undefined;
  /**
   * Arguments of a call that reached no server, as the layers that mask would pass them on. Undefined if they
   * are large, or if a layer might change them in ways that are not known.
   */
  maskedArguments?(server: ServerId, args: Raw): Raw | undefined;
  /** Connects to the server and reads its lists, so that the catalog is current. */
  connect(server: ServerId, origin: Origin): Promise<Lease>;
  /** The server is connected for clients like this one, so the catalog has its current tools. */
  connected(server: ServerId, origin: Origin): boolean;
  /**
   * The login page for this client's account at a server with a login per account; undefined for other
   * servers.
   */
  login?(server: ServerId, origin: Origin): AccountLogin | undefined;
  /** Sets the lowest severity of the children's log messages that this client gets. */
  setLogLevel(origin: Origin, level: Severity): void;
  /** Forwards a notification of the client to the children on its connections. */
  notify(origin: Origin, method: string, params: Raw | undefined): void;
  /** Receives an event for every call. */
  readonly events: Events;
  readonly clock: Clock;
}

/** The facts of a scope: its settings, and what it keeps for clients. */
export interface ScopeFacts {
  readonly log: Log;
  /** Makes and reads page cursors. All scopes of an engine have the same. */
  readonly cursors: Cursors;
  /** Stored results that were too large to return whole. */
  readonly results: ResultStore;
  /** Tasks of clients. */
  readonly tasks: Tasks;
  /** The largest result of a child that is returned whole, if configured. */
  maxResultBytes(): number | undefined;
  /** The largest list of tools that the auto surface shows, if configured. */
  autoMaxBytes(): number | undefined;
  /** Tools to list in full beside own tools. The same array until the config changes. */
  pinned(): readonly ToolTarget[];
  /** Runs code; undefined if code execution is off. */
  readonly code?: Executor | undefined;
  /**
   * Finds servers that can be added, and may add one; undefined if provisioning is off. The answer is plain
   * JSON.
   */
  readonly provision?: ((search: ServerSearch, caller: ProvisionCaller) => Promise<object>) | undefined;
  /** A message for the operator, e.g. that there is no config file or that it cannot be read. */
  notice(): string | undefined;
}

/** What a surface may see and use. A function takes only the part that it uses. */
export interface Scope extends ScopeCatalog, ScopeCalls, ScopeFacts {}
