/** The settings of a gateway, and what all of its parts share. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { OidcSettings } from "../access/identity-provider.ts";
import type { AdminParts } from "../admin/routes/parts.ts";
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Config } from "../config/spec.ts";
import type { EngineOptions } from "../engine/engine.ts";
import type { Compiled, CompileOptions } from "../gateway/compile.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Events } from "../kernel/events.ts";
import type { Log } from "../kernel/log.ts";
import type { AuditOptions } from "../observe/audit/audit-log.ts";
import type { OtelEnvironment } from "../observe/traces/otel-environment.ts";
import type { RegistrySource } from "../provision/registry/base.ts";
import type { ReplicaCounts } from "../replica/limits/replica-counts.ts";
import type { Store } from "../store/store.ts";
import type { GuardOptions } from "../transport/http/guard.ts";
import type { HttpServerOptions } from "../transport/http/http-server.ts";
import type { GatewayAddress } from "./site/gateway-address.ts";

export interface GatewayOptions extends Omit<EngineOptions, "config" | "onStderr" | "onConnected" | "items"> {
  readonly store: Store;
  /** The settings of the engine beside its servers, which are in the store. */
  readonly config: Config;
  readonly search?: SearchStrategy;
  readonly http: HttpServerOptions & Omit<GuardOptions, "token">;
  readonly sessionTimeoutMs: number;
  readonly heartbeatMs: number;
  /** The variables that entries of servers can use, and the folder that relative paths start from. */
  readonly entryContext: CompileOptions["entryContext"];
  /** HOST:PORT where other replicas on the store reach this one; undefined if it shares no sessions. */
  readonly replicaAddress?: string | undefined;
  /** The URL for people and clients, if the gateway is behind a proxy. */
  readonly publicUrl: string | undefined;
  readonly adminToken: string | undefined;
  /** The identity provider for logins at the console. */
  readonly oidc: OidcSettings | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted: addresses or networks. */
  readonly trustProxy?: readonly string[];
  readonly audit: AuditOptions;
  /** A port that serves only `/metrics`, without login. */
  readonly metricsPort: number | undefined;
  /** The exporter for traces. Without it no code for traces is loaded. */
  readonly otel?: OtelEnvironment | undefined;
  /** Whether to serve the web console at `/`. */
  readonly console: boolean;
  /** Creates the handler for `/api/v1`. */
  readonly admin: (parts: Omit<AdminParts, "log">) => Admin;
  /** The folder with the operator's own layers. */
  readonly middlewareDir?: string | undefined;
  /** Default: the official registry. */
  readonly registry?: RegistrySource | undefined;
}

export type Admin = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What all parts of a gateway share. */
export interface GatewayContext {
  readonly options: GatewayOptions;
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: Events;
  /** The id of this gateway among those on the store; undefined on an embedded store. */
  readonly replica: string | undefined;
  readonly address: GatewayAddress;
  /** The counts of limits over all replicas; undefined for a gateway that counts for itself. */
  readonly counts: ReplicaCounts | undefined;
  /** The configuration that is served at the moment. */
  readonly compiled: () => Compiled;
}
