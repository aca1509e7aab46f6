/**
 * For tests of layers: a registry, calls with facts, and a pipeline in front of a child that records its
 * calls.
 */
import { loadValidator } from "../gateway/schema-check.ts";
import type { Call, Handler, Uplink } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { LOCAL, type Principal } from "../kernel/principal.ts";
import { asRaw, EMPTY_OBJECT, type Raw, toRaw } from "../kernel/raw.ts";
import { CallSignal } from "../kernel/signal.ts";
import type { ToolAnnotations, ToolFacts } from "../kernel/tool-facts.ts";
import type { Approvals, ApprovalTerms } from "./approvals.ts";
import { BUILT_IN } from "./built-in.ts";
import type { LayerEntry, PlacedLayer } from "./layer.ts";
import { runPermitted } from "./permission.ts";
import { pipelineOf } from "./pipeline.ts";
import type { ReadStore } from "./read-log.ts";
import { LayerRegistry } from "./registry.ts";

export const registry = new LayerRegistry(BUILT_IN, await loadValidator());

export const raw = (text: string): Raw => asRaw(Buffer.from(text));

export const silent: Uplink = {
  notify: () => {},
  request: () => Promise.reject(new Error("this client cannot be asked")),
};

export interface TestCall {
  /** `server:tool`. */
  readonly tool?: string;
  readonly args?: unknown;
  /** The JSON text of the arguments, instead of `args`. */
  readonly written?: string;
  readonly annotations?: ToolAnnotations;
  readonly labels?: readonly string[];
  readonly definition?: unknown;
  readonly principal?: Partial<Principal>;
  readonly more?: Partial<Call>;
}

export function callOf(wanted: TestCall = {}): Call {
  const {
    tool = "one:echo",
    args = {},
    written,
    annotations = {},
    labels = [],
    definition,
    more = {},
  } = wanted;
  const [server = "", name = ""] = tool.split(":");
  const principal = { ...LOCAL.principal, ...wanted.principal };
  const facts: ToolFacts = {
    server,
    name,
    labels,
    annotations,
    ...(definition === undefined ? {} : { definition: toRaw(definition) }),
  };
  return {
    server,
    method: "tools/call",
    tool: name,
    params: raw(`{"name": ${JSON.stringify(name)}, "arguments": ${written ?? JSON.stringify(args)}}`),
    origin: { ...LOCAL, principal, session: "a", capabilities: EMPTY_OBJECT, uplink: silent },
    signal: new CallSignal(),
    deadline: Number.POSITIVE_INFINITY,
    repeat: annotations.readOnlyHint ? "safe" : "unknown",
    uplink: silent,
    facts,
    ...more,
  };
}

export const RESULT = '{ "content":[ {"type":"text","text":"done"} ] }';

export interface WaitingCall {
  readonly call: Call;
  readonly terms: ApprovalTerms;
  yes(): void;
  no(error: Error): void;
}

export interface TestPipeline {
  readonly clock: ManualClock;
  /** Calls that wait for an approval. */
  readonly waiting: WaitingCall[];
  readonly layers: readonly PlacedLayer[];
  /** The calls that reached the child. */
  readonly seen: Call[];
  call(wanted?: TestCall | Call): Promise<Raw>;
  /** Resolves with the code of a refusal, or with the text of the result. */
  outcome(wanted?: TestCall | Call): Promise<string>;
}

export async function testPipeline(
  entries: readonly LayerEntry[],
  answer: Handler = async () => raw(RESULT),
  reads?: ReadStore,
): Promise<TestPipeline> {
  const clock = new ManualClock();
  const waiting: WaitingCall[] = [];
  const approvals: Approvals = {
    wait: (call, terms) =>
      new Promise((yes, no) => {
        waiting.push({ call, terms, yes, no });
      }),
  };
  await registry.prepare(entries);
  const layers = entries.map((entry) => ({
    ...registry.compile(entry, { clock, approvals, reads }),
    use: entry.use,
    at: "a test",
  }));
  const seen: Call[] = [];
  const server: Handler = (call) => {
    seen.push(call);
    return answer(call);
  };
  // As `scope.ts` does for a server with several instances.
  const handler = pipelineOf(layers, (call) => call.atServer?.(server)(call) ?? server(call), clock);
  const call = (wanted: TestCall | Call = {}): Promise<Raw> => {
    const made = "origin" in wanted ? wanted : callOf(wanted);
    return runPermitted(made, (permissions) => handler({ ...made, permissions }));
  };
  return {
    clock,
    waiting,
    layers,
    seen,
    call,
    outcome: (wanted) =>
      call(wanted).then(String, (error: { code?: string | number; message: string }) =>
        String(error.code ?? error.message),
      ),
  };
}

export { newTrail } from "../kernel/call.ts";
