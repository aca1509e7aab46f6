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
  return compose(steps, rejecting(handler));
}

/** Layers rely on a promise. */
function rejecting(handler: Handler): Handler {
  return (call) => {
    try {
      return handler(call);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
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
      const wait = Math.max(limit.wait(call), ...behind.map((other) => other.wait(call)));
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
      if (!trail) return guarded(handle, call, use, at);
      const step: Step = { use, ms: 0, outcome: "passed", reached: false, inner: undefined, insideMs: 0 };
      trail.layers.push(step);
      const began = clock.now();
      const ended = (outcome: LayerStep["outcome"]): void => {
        step.ms = Math.max(0, clock.now() - began - step.insideMs);
        step.outcome = outcome;
      };
      return guarded(handle, { ...call, step }, use, at).then(
        (result) => {
          ended(step.reached ? "passed" : "answered");
          return result;
        },
        (error: unknown) => {
          const own = error !== step.inner;
          ended(own ? "refused" : "passed");
          if (own) trail.by ??= use;
          throw error;
        },
      );
    };
  };
}

/** Whatever a layer throws that is no error of ours is a fault of the layer. */
function guarded(handle: Handler, call: Call, use: string, at: string): Promise<Raw> {
  const failed = (error: unknown): never => {
    if (MetaMcpError.is(error) || error instanceof RpcError || call.signal.aborted) throw error;
    const text = `The layer "${use}" (${at}) failed, so the call was refused.`;
    throw new MetaMcpError("internal", text, { cause: error });
  };
  try {
    return handle(call).catch(failed);
  } catch (error) {
    return Promise.reject(asRejection(failed, error));
  }
}

function asRejection(failed: (error: unknown) => never, error: unknown): unknown {
  try {
    return failed(error);
  } catch (refusal) {
    return refusal;
  }
}
