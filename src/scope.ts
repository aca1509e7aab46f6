/** The scope of the whole engine: what surfaces may see and use, by the rules of the current config. Starts nothing. */
import type { PinGate } from "./catalog/pins/pin-gate.ts";
import type { Fleet } from "./child/fleet.ts";
import { instancesOf } from "./child/instance.ts";
import { permits } from "./config/glob.ts";
import type { Config, ServerSpec } from "./config/spec.ts";
import type { EngineCredentials } from "./engine-credentials.ts";
import type { Examples } from "./examples.ts";
import {
  type Call,
  compose,
  type Handler,
  type Middleware,
  type Origin,
  type TraceContext,
} from "./kernel/call.ts";
import { accountOf } from "./kernel/principal.ts";
import { toRaw } from "./kernel/raw.ts";
import { traceparentOf } from "./kernel/traceparent.ts";
import { askFirst } from "./middleware/ask.ts";
import { recordExamples } from "./middleware/record-examples.ts";
import { mayHave, member, withFirst, withMember } from "./rpc/slice.ts";
import type { Scope } from "./surface/scope.ts";

type PassedOn =
  | "view"
  | "loader"
  | "log"
  | "clock"
  | "results"
  | "tasks"
  | "code"
  | "provision"
  | "connect"
  | "servers"
  | "events";

interface ScopeParts extends Pick<Scope, PassedOn> {
  readonly fleet: Fleet;
  readonly gate: PinGate;
  readonly examples: Examples;
  /** Outside of our own middleware. */
  readonly middleware: readonly Middleware[];
  /** Puts the layers of the config around a handler. */
  readonly layered: (handler: Handler) => Handler;
  readonly config: () => Config;
  /** Why the config file cannot be used; undefined if it can. */
  readonly fault: () => string | undefined;
  readonly credentials?: EngineCredentials | undefined;
}

export function createScope(parts: ScopeParts): Scope {
  const { fleet, gate, examples, middleware, layered, config, fault, credentials, ...given } = parts;
  const rulesOf = (server: string) => config().servers.get(server)?.tools;
  const allowed = (server: string, tool: string): boolean => {
    const rules = rulesOf(server);
    return rules !== undefined && permits(rules, tool);
  };
  return {
    ...given,
    maxResultBytes: () => config().maxResultBytes,
    autoMaxBytes: () => config().autoMaxBytes,
    usageOf: (server, tool) => examples.of(server, tool),
    call: compose(
      middleware,
      layered(
        compose(
          [askFirst((server) => config().servers.get(server), given.clock), recordExamples(examples)],
          atServer(recordedAtChild(fleet.handle), (server) => config().servers.get(server)),
        ),
      ),
    ),
    target: (server, tool) => ({ server, tool }),
    specs: () => config().servers,
    setLogLevel: (origin, level) => fleet.setLogLevel(origin.session, level),
    notify: (origin, method, params) => fleet.notify(origin, method, params),
    has: (name) => config().servers.has(name),
    permits: (server, tool, asker) =>
      allowed(server, tool) &&
      !(gate.enforced && gate.review(server, asker).changes.some((change) => change.tool === tool)),
    connected: (server, origin) => fleet.connected(server, origin),
    pins: {
      enforced: gate.enforced,
      unapproved: (server, asker) =>
        gate.review(server, asker).changes.filter(({ tool }) => allowed(server, tool)),
      settled: () => gate.settled(),
    },
    server: (name, asker) => given.servers(asker).find((status) => status.name === name),
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

/** Applies `call.atServer`, which makes a second attempt. Only if there is a second way to the server: another process, or another HTTP request. */
function atServer(next: Handler, specOf: (server: string) => ServerSpec | undefined): Handler {
  return (call) => {
    const { atServer: around, server } = call;
    const spec = around && specOf(server);
    const another = spec && (spec.kind !== "stdio" || instancesOf(spec) > 1);
    return another ? around(next)(call) : next(call);
  };
}

/** Records the arguments and the time at the child. Inside all layers, so the record has what is really sent. */
function recordedAtChild(next: Handler): Handler {
  return (call) => {
    const { trail, params, given } = call;
    if (!trail) return next(call);
    trail.arguments =
      given?.params === params ? given.args : (member(params, "arguments") ?? trail.arguments);
    const child = { from: Date.now(), to: 0 };
    trail.child = child;
    return next(trail.trace ? withTraceContext(call, trail.trace) : call).then(
      (result) => {
        child.to = Date.now();
        return result;
      },
      (error: unknown) => {
        child.to = Date.now();
        throw error;
      },
    );
  };
}

/** Adds the trace context to `_meta`, so that the child continues the trace. */
function withTraceContext(call: Call, trace: TraceContext): Call {
  const { params } = call;
  const meta = mayHave(params, "_meta") ? member(params, "_meta") : undefined;
  if (!meta) return { ...call, params: withFirst(params, [Buffer.from(`"_meta":${metaText(trace)}`)]) };
  const told = withMember(meta, "traceparent", toRaw(traceparentOf(trace)));
  const whole = trace.state === undefined ? told : withMember(told, "tracestate", toRaw(trace.state));
  return { ...call, params: withMember(params, "_meta", whole) };
}

function metaText(trace: TraceContext): string {
  const told = `"traceparent":"${traceparentOf(trace)}"`;
  return trace.state === undefined ? `{${told}}` : `{${told},"tracestate":${JSON.stringify(trace.state)}}`;
}

function missingConfigNotice({ exists, path }: Config): string | undefined {
  return exists ? undefined : `There is no config file at ${path} yet; it is picked up when it appears.`;
}
