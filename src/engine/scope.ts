/**
 * The scope of the whole engine: what surfaces may see and use, by the rules of the current config. Starts
 * nothing.
 */
import type { ToolChange } from "../catalog/pins/change.ts";
import type { PinGate } from "../catalog/pins/pin-gate.ts";
import type { LazyFleet } from "../child/lazy-fleet.ts";
import { permits } from "../config/glob.ts";
import type { Config } from "../config/spec.ts";
import type { Origin, ServerId } from "../kernel/call.ts";
import type { Asker } from "../kernel/list-key.ts";
import { accountOf } from "../kernel/principal.ts";
import type { Scope } from "../surface/scope.ts";
import type { EngineChildren } from "./children.ts";
import type { EngineCredentials } from "./credentials.ts";
import type { Examples } from "./examples.ts";

type PassedOn =
  | "view"
  | "call"
  | "loader"
  | "log"
  | "clock"
  | "cursors"
  | "results"
  | "tasks"
  | "code"
  | "provision"
  | "connect"
  | "servers"
  | "events";

interface ScopeParts extends Pick<Scope, Exclude<PassedOn, "servers">> {
  readonly servers: EngineChildren["servers"];
  readonly fleet: LazyFleet;
  readonly gate: PinGate;
  readonly examples: Examples;
  readonly config: () => Config;
  /** Why the config file cannot be used; undefined if it can. */
  readonly fault: () => string | undefined;
  readonly credentials?: EngineCredentials | undefined;
}

export function createScope(parts: ScopeParts): Scope {
  const { fleet, gate, examples, config, fault, credentials, servers, ...given } = parts;
  const rulesOf = (server: string) => config().servers.get(server)?.tools;
  const allowed = (server: string, tool: string): boolean => {
    const rules = rulesOf(server);
    return rules !== undefined && permits(rules, tool);
  };
  return {
    ...given,
    servers: (asker) => servers(asker),
    maxResultBytes: () => config().maxResultBytes,
    autoMaxBytes: () => config().autoMaxBytes,
    pinned: () => config().pinned,
    usageOf: (server, tool) => examples.of(server, tool),
    target: (server, tool) => ({ server, tool }),
    specs: () => config().servers,
    setLogLevel: (origin, level) => fleet.setLogLevel(origin.session, level),
    notify: (origin, method, params) => fleet.notify(origin, method, params),
    has: (name) => config().servers.has(name),
    permits: (server, tool, asker) =>
      allowed(server, tool) &&
      !(gate.enforced && changedTools(gate, server, asker).some((change) => change.tool === tool)),
    connected: (server, origin) => fleet.connected(server, origin),
    pins: {
      enforced: gate.enforced,
      unapproved: (server, asker) =>
        changedTools(gate, server, asker).filter(({ tool }) => allowed(server, tool)),
      unapprovedTexts: (server, asker) =>
        gate.review(server, asker).changes.filter(({ of }) => of !== "tools"),
      settled: () => gate.settled(),
    },
    server: (name, asker) => servers(asker, name).find((status) => status.name === name),
    ...(credentials && {
      login(server: string, { principal }: Origin) {
        const spec = config().servers.get(server);
        const account = accountOf(principal);
        return spec?.perAccount && account !== undefined ? credentials.login(spec, account) : undefined;
      },
    }),
    notice: () => fault() ?? missingConfigNotice(config()),
  };
}

function changedTools(gate: PinGate, server: ServerId, asker: Asker): readonly ToolChange[] {
  return gate.review(server, asker).changes.filter(({ of }) => of === "tools");
}

function missingConfigNotice({ exists, path }: Config): string | undefined {
  return exists ? undefined : `There is no config file at ${path} yet; it is picked up when it appears.`;
}
