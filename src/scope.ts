/** The scope of the whole engine: what all surfaces may see and use, under the rules of the config of the moment. Starts nothing. */
import type { PinGate } from "./catalog/pins/pin-gate.ts";
import type { Fleet } from "./child/fleet.ts";
import { permits } from "./config/glob.ts";
import type { Config } from "./config/spec.ts";
import type { Examples } from "./examples.ts";
import { compose, type Middleware } from "./kernel/call.ts";
import { askFirst } from "./middleware/ask.ts";
import { remember } from "./middleware/remember.ts";
import type { Scope } from "./surface/scope.ts";

type Given =
  | "catalog"
  | "learner"
  | "log"
  | "clock"
  | "results"
  | "code"
  | "provision"
  | "connect"
  | "servers";

interface ScopeParts extends Pick<Scope, Given> {
  readonly fleet: Fleet;
  readonly gate: PinGate;
  readonly examples: Examples;
  /** Outside of our own. */
  readonly middleware: readonly Middleware[];
  readonly config: () => Config;
  /** Why the config file cannot be used at the moment. */
  readonly fault: () => string | undefined;
}

export function createScope(parts: ScopeParts): Scope {
  const { fleet, gate, examples, middleware, config, fault, ...given } = parts;
  const rulesOf = (server: string) => config().servers.get(server)?.tools;
  const allowed = (server: string, tool: string): boolean => {
    const rules = rulesOf(server);
    return rules !== undefined && permits(rules, tool);
  };
  return {
    ...given,
    maxResultBytes: () => config().maxResultBytes,
    usageOf: (server, tool) => examples.of(server, tool),
    call: compose([...middleware, askFirst(rulesOf, given.clock), remember(examples)], fleet.handle),
    specs: () => config().servers,
    setLogLevel: (origin, level) => fleet.setLogLevel(origin.session, level),
    notify: (origin, method, params) => fleet.notify(origin.session, method, params),
    has: (name) => config().servers.has(name),
    permits: (server, tool) =>
      allowed(server, tool) &&
      !(gate.enforced && gate.review(server).changes.some((change) => change.tool === tool)),
    pins: {
      enforced: gate.enforced,
      unapproved: (server) => gate.review(server).changes.filter(({ tool }) => allowed(server, tool)),
      settled: () => gate.settled(),
    },
    server: (name) => given.servers().find((status) => status.name === name),
    notice: () => fault() ?? absence(config()),
  };
}

function absence({ exists, path }: Config): string | undefined {
  return exists ? undefined : `There is no config file at ${path} yet; it is picked up when it appears.`;
}
