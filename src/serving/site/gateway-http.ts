/**
 * The HTTP side of a gateway: the server with its site and admin API, and the port for metrics. Does not
 * start to listen.
 */
import type { Access } from "../../access/access.ts";
import type { AddressOf } from "../../access/client-address.ts";
import type { RefusedCredentials } from "../../access/refused-credentials.ts";
import { TemporaryKeys } from "../../access/temporary-keys.ts";
import type { NotifyControl } from "../../gateway/notify-control.ts";
import { ALONE, type ReplicaControl } from "../../observe/live/replica-view.ts";
import type { Observer } from "../../observe/observer.ts";
import { createHostGuard, isLoopback } from "../../transport/http/guard.ts";
import { HttpServer } from "../../transport/http/http-server.ts";
import type { GatewayCore } from "../gateway-core.ts";
import type { Admin, GatewayContext } from "../gateway-options.ts";
import { clientSessions } from "../inspect/client-sessions.ts";
import { createInspector } from "../inspect/inspector.ts";
import type { GatewayLayers } from "../layers.ts";
import type { InStep } from "../live/in-step.ts";
import type { GatewayAuthorization } from "../logins/authorization.ts";
import type { GatewayOidc } from "../logins/oidc.ts";
import type { GatewayLogins } from "../logins/server-logins.ts";
import { Tries } from "../try/tries.ts";
import { ConsoleFiles } from "./console-files.ts";
import { GatewaySite } from "./gateway-site.ts";
import { MetricsPort } from "./metrics-port.ts";

export interface HttpParts {
  readonly core: GatewayCore;
  readonly pipeline: GatewayLayers;
  readonly access: Access;
  readonly refused: RefusedCredentials;
  readonly oidc: GatewayOidc | undefined;
  readonly logins: GatewayLogins;
  readonly authorization: GatewayAuthorization;
  readonly observer: Observer;
  readonly addressOf: AddressOf;
  readonly replicas: ReplicaControl | undefined;
  /** Set if other gateways change the same store. */
  readonly inStep: InStep | undefined;
  readonly notices: NotifyControl;
  readonly isClosing: () => boolean;
}

export interface GatewayHttp {
  readonly server: HttpServer;
  /** Undefined unless `--metrics-port` is set. */
  readonly metrics: MetricsPort | undefined;
}

export function createHttp(context: GatewayContext, parts: HttpParts): GatewayHttp {
  const { http: listening, metricsPort, publicUrl, console } = context.options;
  const { core, access, authorization, logins, observer } = parts;
  const { store } = context;
  const temporaryKeys = new TemporaryKeys(store.sealer.derive("temporary keys"), () => store.now());
  const exposed = !isLoopback(listening.host) || publicUrl !== undefined;
  const metricsText = (): string => observer.metrics.text();
  const site = new GatewaySite({
    compiled: context.compiled,
    endpoints: core.endpoints,
    access,
    refused: parts.refused,
    authorization,
    logins: logins.site,
    backChannel: parts.oidc?.backChannel,
    temporaryKeys: temporaryKeys,
    hostGuard: createHostGuard(listening),
    addressOf: parts.addressOf,
    inStep: parts.inStep,
    readiness: () => ({
      ready: !parts.isClosing(),
      down: [],
      // The reason may contain the address of the database, so only administrators see it (/attention).
      ...(context.store.state.up ? {} : { store: "down" }),
      ...(context.counts?.divided ? { limits: "divided" } : {}),
      ...(parts.replicas?.unshared === undefined ? {} : { replicas: "not shared" }),
    }),
    admin: createAdmin(context, parts, { temporaryKeys: temporaryKeys, exposed }),
    console: console ? new ConsoleFiles(context.log) : undefined,
    // People on this machine can get the same figures in other ways.
    metrics: exposed ? undefined : metricsText,
  });
  return {
    server: new HttpServer(listening, site),
    metrics:
      metricsPort === undefined
        ? undefined
        : new MetricsPort(
            { host: listening.host, port: metricsPort },
            createHostGuard(listening),
            metricsText,
          ),
  };
}

function createAdmin(
  { options, store, clock, events, replica, compiled, address }: GatewayContext,
  parts: HttpParts,
  { temporaryKeys, exposed }: { readonly temporaryKeys: TemporaryKeys; readonly exposed: boolean },
): Admin {
  const { core, pipeline, access, refused, inStep, oidc, logins, authorization, observer } = parts;
  const { replicas = ALONE } = parts;
  const { engine, endpoints, control, provisioning } = core;
  const { layers, compiledLayers, approvals } = pipeline;
  return options.admin({
    control,
    access,
    refused,
    inStep,
    oidc: oidc?.login,
    grants: authorization.grants,
    logins: logins.control,
    publicUrl: address.url,
    events,
    observed: observer,
    inspector: createInspector({
      engine,
      endpoints,
      control,
      temporaryKeys,
      url: address.url,
      compiled,
      compiledLayers,
      clock,
    }),
    tries: new Tries({ endpoints, events, replica }),
    pins: engine.pins,
    layers,
    health: { exposed, store: () => store.state },
    provisioning,
    approvals,
    notices: parts.notices,
    replicas,
    sessions: clientSessions({ engine, endpoints, names: observer.names, clock }),
  });
}
