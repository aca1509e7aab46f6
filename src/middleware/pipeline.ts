/**
 * Composes layers around a handler, the first outermost. Records the steps of a call in its trail, and checks
 * all limits before it counts the call in any of them. A layer that fails refuses the call.
 */
import { type Call, compose, type Handler, type Middleware } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { LARGE_BYTES, ownTurn } from "../kernel/own-turn.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Inside, Limit, PlacedLayer } from "./layer.ts";
import { ifCurrent } from "./permission.ts";
import { isOverLimit, tooMany } from "./refusals.ts";
import { StepRecorder } from "./step-recorder.ts";

/** `facts` describe the tool for the layers. Default: `call.facts`. */
export type Pipeline = (call: Call, facts?: ToolFacts) => Promise<Raw>;

export function pipelineOf(layers: readonly PlacedLayer[], handler: Handler, clock: Clock): Pipeline {
  const steps = layers.flatMap((layer, at) => {
    const { call, limit } = layer;
    const inner = layers.slice(at + 1);
    const middleware = limit
      ? limited(limit, limitsIn(inner))
      : call && ((next: Handler): Handler => call(next, inner));
    return middleware ? [recordedStep(layer, middleware)] : [];
  });
  if (steps.length === 0) return (call) => asPromise(handler, call);
  const outermost = compose(steps, leavingLayers(handler));
  return (call, facts = call.facts) =>
    outermost({ ...call, facts, recorder: new StepRecorder(call.trail, clock) });
}

/**
 * The limits up to the first layer that may answer itself: a call answered there never reaches the limits
 * inside.
 */
function limitsIn(inner: Inside): readonly Limit[] {
  const end = inner.findIndex(({ answers }) => answers);
  return (end < 0 ? inner : inner.slice(0, end)).flatMap(({ limit }) => limit ?? []);
}

function limited(limit: Limit, inner: readonly Limit[]): Middleware {
  const counted = (next: Handler): Handler =>
    function limited(call) {
      let wait = waitFor(limit, call);
      for (const other of inner) wait = Math.max(wait, waitFor(other, call));
      if (wait > 0) return Promise.reject(tooMany(call, wait));
      const taken = call.permissions?.isCounted(limit) ? undefined : limit.take(call);
      const inside = next(call);
      inside.then(
        () => call.permissions?.ended(limit),
        (error: unknown) => {
          if (isOverLimit(error)) limit.giveBack(call, taken);
          else call.permissions?.ended(limit);
        },
      );
      return inside;
    };
  const asking = [limit, ...inner].filter((one) => one.ready !== undefined);
  return asking.length === 0 ? counted : (next) => whenReady(asking, counted(next));
}

/**
 * A call passes once all limits are known in the same moment. While it waits for one, others may take what
 * another one had.
 */
const MAX_ROUNDS = 5;

function whenReady(limits: readonly Limit[], next: Handler): Handler {
  const unknown = (call: Call): Promise<unknown> | undefined => {
    const asked = limits.flatMap((limit) =>
      call.permissions?.isCounted(limit) ? [] : (limit.ready?.(call) ?? []),
    );
    return asked.length === 0 ? undefined : Promise.all(asked);
  };
  const wait = async (call: Call, first: Promise<unknown>): Promise<Raw> => {
    let asked: Promise<unknown> | undefined = first;
    for (let round = 1; asked; round++) {
      await asked;
      if (call.signal.aborted) throw call.signal.reason;
      asked = round < MAX_ROUNDS ? unknown(call) : undefined;
    }
    return await ifCurrent(call, next);
  };
  return (call) => {
    const asked = unknown(call);
    return asked ? wait(call, asked) : next(call);
  };
}

function waitFor(limit: Limit, call: Call): number {
  return call.permissions?.isCounted(limit) ? 0 : limit.wait(call);
}

/**
 * Records the step of one layer. If the layer returns the very promise that it got from inside, no handler is
 * added for it: most layers do nothing with the result. An error that is neither ours nor the server's is a
 * fault of the layer.
 */
function recordedStep({ use, at }: PlacedLayer, layer: Middleware): Middleware {
  const refusalOf = (error: unknown, { signal }: Call): unknown => {
    if (MetaMcpError.is(error) || error instanceof RpcError || signal.aborted) return error;
    const text = `The layer "${use}" (${at}) failed, so the call was refused.`;
    return new MetaMcpError("internal", text, { cause: error });
  };
  return (next) => {
    const handle = layer(next);
    return (call) => {
      const recorder = call.recorder as StepRecorder;
      const step = recorder.enter(use);
      const running = inTurn(handle, call);
      if (running === recorder.passed) return running;
      recorder.passed = running.then(
        (result) => {
          recorder.ended(step);
          return result;
        },
        (thrown: unknown) => {
          const error = refusalOf(thrown, call);
          recorder.failed(step, error, at);
          throw error;
        },
      );
      return recorder.passed;
    };
  };
}

/** The innermost part: the call leaves the layers. */
function leavingLayers(handler: Handler): Handler {
  return (call) => {
    const recorder = call.recorder as StepRecorder;
    recorder.leave();
    const answer = inTurn(handler, call);
    answer.then(
      () => recorder.back(),
      (error: unknown) => recorder.back(error),
    );
    recorder.passed = answer;
    return answer;
  };
}

/** Several layers read all arguments, so that each has a turn of its own if they are large. */
function inTurn(handle: Handler, call: Call): Promise<Raw> {
  return call.params.length < LARGE_BYTES ? asPromise(handle, call) : inOwnTurn(handle, call);
}

async function inOwnTurn(handle: Handler, call: Call): Promise<Raw> {
  await ownTurn();
  if (call.signal.aborted) throw call.signal.reason;
  return await ifCurrent(call, (current) => asPromise(handle, current));
}

/** Always returns a promise. The operator's own layers may throw or return something else. */
function asPromise(handle: Handler, call: Call): Promise<Raw> {
  try {
    const running: unknown = handle(call);
    return running instanceof Promise ? running : Promise.reject(new TypeError("no promise was returned"));
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
