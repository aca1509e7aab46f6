/**
 * The inner part of every call, inside the layers of the config: asks the user if the server wants that,
 * makes a second attempt, records examples and what is really sent, and gives the call to the child.
 */
import { instancesOf } from "../child/instance.ts";
import type { Config, ServerSpec } from "../config/spec.ts";
import { type Call, compose, type Handler, type TraceContext } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { traceparentOf } from "../kernel/traceparent.ts";
import { askFirst } from "../middleware/ask.ts";
import { ifCurrent } from "../middleware/permission.ts";
import { recordExamples } from "../middleware/record-examples.ts";
import { mayHave, member, withFirst, withMember } from "../rpc/slice.ts";
import type { Examples } from "./examples.ts";

interface ServerCallParts {
  /** The children. */
  readonly handle: Handler;
  readonly examples: Examples;
  readonly config: () => Config;
  readonly clock: Clock;
}

export function serverCalls({ handle, examples, config, clock }: ServerCallParts): Handler {
  const specOf = (server: string): ServerSpec | undefined => config().servers.get(server);
  const outer = [askFirst(specOf, clock), recordExamples(examples)];
  return compose(outer, atServer(begunFirst(recordedAtChild(handle)), specOf));
}

/** Waits for the record of the beginning, if one is required. The times of the call pause meanwhile. */
function begunFirst(next: Handler): Handler {
  return (call) => {
    const { trail, hold, signal } = call;
    const begin = trail?.begin;
    if (!begin) return next(call);
    const waiting = async (): Promise<Raw> => {
      const release = hold?.();
      try {
        await begin();
      } finally {
        release?.();
      }
      if (signal.aborted) throw signal.reason;
      return await ifCurrent(call, next);
    };
    return waiting();
  };
}

/**
 * Applies `call.atServer`, which makes a second attempt. Only if there is a second way to the server: another
 * process, or another HTTP request.
 */
function atServer(next: Handler, specOf: (server: string) => ServerSpec | undefined): Handler {
  return (call) => {
    const { atServer: around, server } = call;
    const spec = around && specOf(server);
    const another = spec && (spec.kind !== "stdio" || instancesOf(spec) > 1);
    return another ? around(next)(call) : next(call);
  };
}

/**
 * Records the arguments and the time at the child. Inside all layers, so the record has what is really sent.
 */
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
  const told = tellable(trace);
  if (!meta) return { ...call, params: withFirst(params, [Buffer.from(`"_meta":${JSON.stringify(told)}`)]) };
  const whole = Object.entries(told).reduce((all, [key, value]) => withMember(all, key, toRaw(value)), meta);
  return { ...call, params: withMember(params, "_meta", whole) };
}

function tellable(trace: TraceContext): Readonly<Record<string, string>> {
  const { state, baggage } = trace;
  return {
    traceparent: traceparentOf(trace),
    ...(state !== undefined && { tracestate: state }),
    ...(baggage !== undefined && { baggage }),
  };
}
