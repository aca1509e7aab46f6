/** Shortens the time that calls may take. Never lengthens it. */
import type { Call, Handler, Hold } from "../../kernel/call.ts";
import type { Clock, Timer } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { LayerKind } from "../layer.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

export const timeout: LayerKind = {
  summary: "Shorten the time that a call may take.",
  schema: {
    properties: {
      timeoutMs: { ...TIME, description: "how long a call may be silent" },
      deadlineMs: { ...TIME, description: "how long a call may take in all" },
    },
    anyOf: [{ required: ["timeoutMs"] }, { required: ["deadlineMs"] }],
  },
  check: (options) => timeProblems(options, ["timeoutMs", "deadlineMs"]),
  compile({ timeoutMs, deadlineMs }, { clock }) {
    const silent = timeoutMs === undefined ? undefined : msOf(timeoutMs);
    const most = deadlineMs === undefined ? undefined : msOf(deadlineMs);
    const limits = [
      ...(silent === undefined ? [] : [`silent for ${silent} ms at most`]),
      ...(most === undefined ? [] : [`${most} ms in all`]),
    ];
    return {
      explain: () => ({ effect: "change", reason: limits.join(", ") }),
      call: (next) => (call) => {
        const shorter = most ? { ...call, deadline: Math.min(call.deadline, clock.now() + most) } : call;
        return silent ? unlessSilent(shorter, silent, clock, next) : next(shorter);
      },
    };
  },
};

/** Every word of the child begins the time anew; it stands still while somebody is asked on behalf of the call. */
class Silence {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #onUp: () => void;
  #timer: Timer;
  #holds = 0;
  #over = false;

  constructor(most: number, clock: Clock, onUp: () => void) {
    this.#most = most;
    this.#clock = clock;
    this.#onUp = onUp;
    this.#timer = clock.after(most, onUp);
  }

  heard(): void {
    this.#timer.cancel();
    if (this.#holds === 0 && !this.#over) this.#timer = this.#clock.after(this.#most, this.#onUp);
  }

  hold(): () => void {
    this.#holds += 1;
    this.#timer.cancel();
    return () => {
      this.#holds -= 1;
      this.heard();
    };
  }

  end(): void {
    this.#over = true;
    this.#timer.cancel();
  }
}

function unlessSilent(call: Call, most: number, clock: Clock, next: Handler): Promise<Raw> {
  const signal = new CallSignal();
  const forward = (): void => signal.abort(call.signal.reason);
  if (call.signal.aborted) forward();
  else call.signal.addEventListener("abort", forward);
  const silence = new Silence(most, clock, () =>
    signal.abort(new MetaMcpError("timeout", `No answer within ${most} ms; the call was cancelled.`)),
  );
  const hold: Hold = () => {
    const releases = [call.hold?.(), silence.hold()];
    return () => {
      for (const release of releases) release?.();
    };
  };
  const uplink: Call["uplink"] = {
    notify(...said) {
      silence.heard();
      call.uplink.notify(...said);
    },
    request(...asked) {
      const release = silence.hold();
      return call.uplink.request(...asked).finally(release);
    },
  };
  return next({ ...call, signal, uplink, hold })
    .catch((error: unknown) => {
      throw signal.aborted && !call.signal.aborted ? signal.reason : error;
    })
    .finally(() => {
      silence.end();
      call.signal.removeEventListener("abort", forward);
    });
}
