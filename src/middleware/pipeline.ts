/**
 * Layers around a handler, the first outermost. Writes the way of a call into its trail, and looks at all limits before
 * any is taken from. A layer that fails refuses: nothing of what it says is guessed.
 */
import { type Call, compose, type Handler, type Middleware } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import type { ToolFacts } from "../kernel/tool-facts.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Inside, Limit, PlacedLayer } from "./layer.ts";
import { isOverLimit, tooMany } from "./refusals.ts";
import { Walk } from "./walk.ts";

/** `facts`: what layers judge the call by, where it does not say so itself. */
export type Pipeline = (call: Call, facts?: ToolFacts) => Promise<Raw>;

export function pipelineOf(layers: readonly PlacedLayer[], handler: Handler, clock: Clock): Pipeline {
  const steps = layers.flatMap((layer, at) => {
    const { call, limit } = layer;
    const behind = layers.slice(at + 1);
    const middleware = limit
      ? limited(limit, limitsIn(behind))
      : call && ((next: Handler): Handler => call(next, behind));
    return middleware ? [stepped(layer, middleware)] : [];
  });
  if (steps.length === 0) return (call) => begun(handler, call);
  const outermost = compose(steps, left(handler));
  return (call, facts = call.facts) => outermost({ ...call, facts, walk: new Walk(call.trail, clock) });
}

/** Up to what may answer by itself: what is answered there never reaches the limits inside. */
function limitsIn(behind: Inside): readonly Limit[] {
  const end = behind.findIndex(({ answers }) => answers);
  return (end < 0 ? behind : behind.slice(0, end)).flatMap(({ limit }) => limit ?? []);
}

function limited(limit: Limit, behind: readonly Limit[]): Middleware {
  return (next) =>
    function limited(call) {
      let wait = waitFor(limit, call);
      for (const other of behind) wait = Math.max(wait, waitFor(other, call));
      if (wait > 0) return Promise.reject(tooMany(call, wait));
      if (!call.permissions?.isCounted(limit)) limit.take(call);
      const inside = next(call);
      inside.then(
        () => call.permissions?.ended(limit),
        (error: unknown) => {
          if (isOverLimit(error)) limit.giveBack(call);
          else call.permissions?.ended(limit);
        },
      );
      return inside;
    };
}

function waitFor(limit: Limit, call: Call): number {
  return call.permissions?.isCounted(limit) ? 0 : limit.wait(call);
}

/**
 * Most layers give what came from inside as it is: they do nothing on the way back, and nothing waits for them there.
 * Whatever a layer throws that is no error of ours is a fault of the layer.
 */
function stepped({ use, at }: PlacedLayer, layer: Middleware): Middleware {
  const refusalOf = (error: unknown, { signal }: Call): unknown => {
    if (MetaMcpError.is(error) || error instanceof RpcError || signal.aborted) return error;
    const text = `The layer "${use}" (${at}) failed, so the call was refused.`;
    return new MetaMcpError("internal", text, { cause: error });
  };
  return (next) => {
    const handle = layer(next);
    return (call) => {
      const walk = call.walk as Walk;
      const step = walk.enter(use);
      const running = begun(handle, call);
      if (running === walk.passed) return running;
      walk.passed = running.then(
        (result) => {
          walk.ended(step);
          return result;
        },
        (thrown: unknown) => {
          const error = refusalOf(thrown, call);
          walk.failed(step, error);
          throw error;
        },
      );
      return walk.passed;
    };
  };
}

/** Inside of all layers. */
function left(handler: Handler): Handler {
  return (call) => {
    const walk = call.walk as Walk;
    walk.leave();
    const answer = begun(handler, call);
    answer.then(
      () => walk.back(),
      (error: unknown) => walk.back(error),
    );
    walk.passed = answer;
    return answer;
  };
}

/** As a promise, whatever it does: layers of one's own may do anything. */
function begun(handle: Handler, call: Call): Promise<Raw> {
  try {
    const running: unknown = handle(call);
    return running instanceof Promise ? running : Promise.reject(new TypeError("no promise was returned"));
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
