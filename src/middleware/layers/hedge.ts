/**
 * A second attempt beside a slow first one, of tools that only read. The first answer counts, the other attempt is
 * cancelled. It is made right before the server, so whatever decides, asks or counts sees one call. While somebody is asked
 * no time passes: it is not the server that is slow.
 */
import type { Call, Handler, Hold, Uplink } from "../../kernel/call.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { LayerKind } from "../layer.ts";
import { Lru } from "../lru.ts";
import { PausableTimer } from "../pausable-timer.ts";
import { isRepeatable } from "../repeatable.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

interface Options {
  readonly afterMs?: unknown;
  readonly afterPercentile?: number;
  readonly most: number;
}

const MOST_TOOLS = 10_000;
/** The share of calls is that of about so many: quiet hours do not save up for a bad one. */
const SHARE_OF = 1_000;

export const hedge: LayerKind = {
  summary: "Make a second attempt when a read-only tool is slow.",
  schema: {
    properties: {
      afterMs: TIME,
      afterPercentile: { type: "number", minimum: 1, maximum: 99.9 },
      most: { type: "number", exclusiveMinimum: 0, maximum: 1, default: 0.1 },
    },
    oneOf: [{ required: ["afterMs"] }, { required: ["afterPercentile"] }],
  },
  check: (options) => timeProblems(options, ["afterMs"]),
  compile(given, { clock }) {
    const { afterMs, afterPercentile, most } = given as unknown as Options;
    const known = new Lru<string, Times>(MOST_TOOLS);
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
          ? { effect: "change", reason: `also sent to another instance if it is slower ${slow}` }
          : undefined,
      call: (next) => (call) => next(isRepeatable(call) ? { ...call, atServer: hedged } : call),
    };
  },
};

/** How many second attempts there may be: a share of the calls, and always one. */
class Share {
  readonly #most: number;
  #calls = 0;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  called(): void {
    this.#calls += 1;
    if (this.#calls <= SHARE_OF) return;
    this.#calls /= 2;
    this.#taken /= 2;
  }

  take(): boolean {
    if (this.#taken + 1 > Math.max(1, this.#most * this.#calls)) return false;
    this.#taken += 1;
    return true;
  }
}

/** Times of the last calls of one tool, and the one that so many per cent of them are below. */
class Times {
  static readonly #KEPT = 100;
  /** What is sorted is looked at again after so many more. */
  static readonly #STEP = 10;
  readonly #percentile: number;
  readonly #times: number[] = [];
  #count = 0;
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
  /** Undefined: there is no second attempt. */
  readonly wait: number | undefined;
  readonly share: Share;
  readonly clock: Clock;
  /** Hears how long it took until it was answered. */
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
          // An answer of the child is one; what merely broke may still come by the other way.
          if (running.size > 0 && MetaMcpError.is(error) && !call.signal.aborted) return;
          over();
          reject(running.size > 0 ? error : failure.error);
        },
      );
    };
    const timer = new PausableTimer(wait, clock, () => {
      // A person who is being asked may take their time, and is asked once.
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

/** Its progress would go back and forth with that of the first, and what it asks a person the first may have asked: it ends there. */
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
