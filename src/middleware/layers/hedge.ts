/**
 * Layer `hedge`: makes a second attempt if a read-only tool is slow. The first answer counts, and the other
 * attempt is cancelled. The attempts start inside all layers, so other layers see one call. Time in which
 * somebody is asked does not count: then the server is not slow.
 */
import type { Call, Handler, Hold, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { Lru } from "../../kernel/lru.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { LayerKind } from "../layer.ts";
import { PausableTimer } from "../pausable-timer.ts";
import { isRepeatable } from "../repeatable.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

interface Options {
  readonly afterMs?: unknown;
  readonly afterPercentile?: number;
  readonly most: number;
}

const MAX_TOOLS = 10_000;
/**
 * The share is that of about the last 1,000 calls, so that quiet hours do not allow many second attempts
 * later.
 */
const SHARE_WINDOW = 1_000;

export const hedge: LayerKind = {
  summary: "Make a second attempt when a read-only tool is slow.",
  schema: {
    properties: {
      afterMs: { ...TIME, description: `when it is slower than this: ${TIME.description}` },
      afterPercentile: {
        type: "number",
        minimum: 1,
        maximum: 99.9,
        description: "when it is slower than this percentage of its last calls",
      },
      most: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: 1,
        default: 0.1,
        description: "largest share of calls that get a second attempt",
      },
    },
    oneOf: [{ required: ["afterMs"] }, { required: ["afterPercentile"] }],
  },
  check: (options) => timeProblems(options, ["afterMs"]),
  compile(given, { clock }) {
    const { afterMs, afterPercentile, most } = given as unknown as Options;
    const known = new Lru<string, Times>(MAX_TOOLS);
    const share = new Share(most);
    const timesOf = (call: Call): Times => {
      const tool = `${call.server} ${call.tool ?? ""}`;
      const times = known.get(tool) ?? new Times(afterPercentile ?? 0);
      known.set(tool, times);
      return times;
    };
    const hedged = (next: Handler) => (call: Call) => {
      share.called();
      if (afterMs !== undefined) return race(call, next, { wait: msOf(afterMs), share, clock });
      const times = timesOf(call);
      return race(call, next, { wait: times.cut, share, clock, took: (ms) => times.add(ms) });
    };
    const slow =
      afterMs === undefined ? `than ${afterPercentile} % of its last calls` : `than ${msOf(afterMs)} ms`;
    return {
      explain: (call) =>
        isRepeatable(call)
          ? {
              effect: "change",
              reason: `also sent to another instance, if the server has several, when it is slower ${slow}`,
            }
          : undefined,
      call: (next) => (call) => next(isRepeatable(call) ? { ...call, atServer: hedged } : call),
    };
  },
};

/** Limits second attempts to a share of the calls, but always allows one. */
class Share {
  readonly #most: number;
  #calls = 0;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  called(): void {
    this.#calls += 1;
    if (this.#calls <= SHARE_WINDOW) return;
    this.#calls /= 2;
    this.#taken /= 2;
  }

  take(): boolean {
    if (this.#taken + 1 > Math.max(1, this.#most * this.#calls)) return false;
    this.#taken += 1;
    return true;
  }
}

/** The durations of the last calls of one tool, and their percentile. */
class Times {
  static readonly #KEPT = 100;
  /** The percentile is computed again after this many calls. */
  static readonly #STEP = 10;
  readonly #percentile: number;
  readonly #times: number[] = [];
  #count = 0;
  /** The duration at the percentile; undefined until there are enough calls. */
  cut: number | undefined;

  constructor(percentile: number) {
    this.#percentile = percentile;
  }

  add(ms: number): void {
    this.#times[this.#count % Times.#KEPT] = ms;
    this.#count += 1;
    if (this.#count % Times.#STEP !== 0) return;
    const sorted = this.#times.toSorted((a, b) => a - b);
    this.cut = sorted[Math.floor((sorted.length * this.#percentile) / 100)];
  }
}

interface Race {
  /** The time (ms) until the second attempt; undefined for none. */
  readonly wait: number | undefined;
  readonly share: Share;
  readonly clock: Clock;
  /** Called with the duration of the call. */
  readonly took?: (ms: number) => void;
}

function race(call: Call, next: Handler, { wait, share, clock, took }: Race): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const running = new Set<CallSignal>();
    const beside = new Set<number>();
    let failure: { readonly error: unknown } | undefined;
    let asked = false;
    const abort = (reason: unknown): void => {
      for (const signal of running) signal.abort(reason);
    };
    const giveUp = (): void => abort(call.signal.reason);
    const over = (): void => {
      timer.end();
      call.signal.removeEventListener("abort", giveUp);
      abort(new MetaMcpError("cancelled", "Another attempt was answered first."));
    };
    const attempt = (made: Call, signal: CallSignal): void => {
      running.add(signal);
      void tried(next, { ...made, signal, beside }).then(
        (result) => {
          running.delete(signal);
          over();
          took?.(timer.ran);
          resolve(result);
        },
        (error: unknown) => {
          running.delete(signal);
          failure ??= { error };
          // An error of the child is an answer. After a failure of ours the other attempt may still succeed.
          if (running.size > 0 && MetaMcpError.is(error) && !call.signal.aborted) return;
          over();
          reject(running.size > 0 ? error : failure.error);
        },
      );
    };
    const timer = new PausableTimer(wait, clock, () => {
      // A person must not be asked twice.
      if (running.size !== 1 || asked || !share.take()) return;
      const signal = new CallSignal();
      if (call.trail) call.trail.attempts = 2;
      attempt(second(call, signal), signal);
    });
    call.signal.addEventListener("abort", giveUp);
    const uplink: Uplink = {
      notify: (...said) => call.uplink.notify(...said),
      request(...question) {
        asked = true;
        return call.uplink.request(...question).finally(timer.hold());
      },
    };
    const hold: Hold = () => {
      const releases = [call.hold?.(), timer.hold()];
      return () => {
        for (const release of releases) release?.();
      };
    };
    attempt({ ...call, uplink, hold }, new CallSignal());
    if (call.signal.aborted) giveUp();
  });
}

/**
 * The second attempt reports no progress, which would mix with that of the first. It ends if the child asks a
 * question, which the first attempt may have asked already.
 */
function second(call: Call, signal: CallSignal): Call {
  const reason = new MetaMcpError("cancelled", "A second attempt cannot ask questions.");
  const uplink: Uplink = {
    notify(method, params) {
      if (method !== "notifications/progress") call.uplink.notify(method, params);
    },
    request() {
      signal.abort(reason);
      return Promise.reject(reason);
    },
  };
  return { ...call, uplink, ...(call.trail && { trail: { ...call.trail, layers: [] } }) };
}

async function tried(next: Handler, call: Call): Promise<Raw> {
  return await next(call);
}
