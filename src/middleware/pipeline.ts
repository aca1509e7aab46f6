/**
 * Layers around a handler, the first outermost. Writes the way of a call into its trail, and looks at all limits before
 * any is taken from. A layer that fails refuses: nothing of what it says is guessed.
 */
import { type Call, compose, type Handler, type LayerStep, type Middleware } from "../kernel/call.ts";
import type { Clock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import type { Raw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import type { Limit, PlacedLayer } from "./layer.ts";
import { isOverLimit, tooMany } from "./refusals.ts";

export function pipelineOf(layers: readonly PlacedLayer[], handler: Handler, clock: Clock): Handler {
  const steps = layers.flatMap((layer, at) => {
    const middleware = layer.limit ? limited(layer.limit, limitsBehind(layers, at)) : layer.call;
    return middleware ? [stepped(layer, middleware, clock)] : [];
  });
  // Layers rely on a promise.
  return compose(steps, (call) => begun(handler, call));
}

/** Up to what may answer by itself: what is answered there never reaches the limits inside. */
function limitsBehind(layers: readonly PlacedLayer[], at: number): readonly Limit[] {
  const behind = layers.slice(at + 1);
  const end = behind.findIndex(({ answers }) => answers);
  return (end < 0 ? behind : behind.slice(0, end)).flatMap(({ limit }) => limit ?? []);
}

function limited(limit: Limit, behind: readonly Limit[]): Middleware {
  return (next) =>
    function limited(call) {
      let wait = limit.wait(call);
      for (const other of behind) wait = Math.max(wait, other.wait(call));
      if (wait > 0) return Promise.reject(tooMany(call, wait));
      limit.take(call);
      return next(call).catch((error: unknown) => {
        if (isOverLimit(error)) limit.giveBack(call);
        throw error;
      });
    };
}

interface Step extends LayerStep {
  ms: number;
  outcome: LayerStep["outcome"];
  /** It was passed on. */
  reached: boolean;
  /** What the inside rejected with, and how long it took. */
  inner: unknown;
  insideMs: number;
}

/** Only the trail's form is public: what is counted along the way stays here. */
function stepped({ use, at }: PlacedLayer, layer: Middleware, clock: Clock): Middleware {
  /** Whatever a layer throws that is no error of ours is a fault of the layer. */
  const refusalOf = (error: unknown, { signal }: Call): unknown => {
    if (MetaMcpError.is(error) || error instanceof RpcError || signal.aborted) return error;
    const text = `The layer "${use}" (${at}) failed, so the call was refused.`;
    return new MetaMcpError("internal", text, { cause: error });
  };
  return (next) => {
    const handle = layer((call) => {
      const step = call.step as Step | undefined;
      if (!step) return next(call);
      step.reached = true;
      const began = clock.now();
      const inside = next(call);
      const done = (): void => {
        step.insideMs += clock.now() - began;
      };
      inside.then(done, (error: unknown) => {
        done();
        step.inner = error;
      });
      return inside;
    });
    return (call) => {
      const { trail } = call;
      if (!trail)
        return begun(handle, call).catch((error: unknown) => {
          throw refusalOf(error, call);
        });
      const step: Step = { use, ms: 0, outcome: "passed", reached: false, inner: undefined, insideMs: 0 };
      trail.layers.push(step);
      const began = clock.now();
      const ended = (outcome: LayerStep["outcome"]): void => {
        step.ms = Math.max(0, clock.now() - began - step.insideMs);
        step.outcome = outcome;
      };
      return begun(handle, { ...call, step }).then(
        (result) => {
          ended(step.reached ? "passed" : "answered");
          return result;
        },
        (thrown: unknown) => {
          const error = refusalOf(thrown, call);
          const own = error !== step.inner;
          ended(own ? "refused" : "passed");
          if (own) trail.by ??= use;
          throw error;
        },
      );
    };
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
