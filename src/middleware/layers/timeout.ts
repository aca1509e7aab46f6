/** Layer `timeout`: shortens the time limits of calls. Never extends them. */
import { Alarm } from "../../kernel/alarm.ts";
import type { Call, Handler, Hold, Uplink } from "../../kernel/call.ts";
import { CallTimer } from "../../kernel/call-timer.ts";
import { MetaMcpError, mayHaveRun } from "../../kernel/errors.ts";
import type { Permissions } from "../../kernel/permissions.ts";
import type { Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { LayerKind } from "../layer.ts";
import { msOf, TIME, timeProblems } from "../times.ts";

export const timeout: LayerKind = {
  summary: "Shorten the time limits of a call.",
  schema: {
    properties: {
      timeoutMs: {
        ...TIME,
        description: 'longest time without an answer or progress: milliseconds, or a time such as "60s"',
      },
      deadlineMs: {
        ...TIME,
        description: 'longest total time: milliseconds, or a time such as "60s"',
      },
    },
    anyOf: [{ required: ["timeoutMs"] }, { required: ["deadlineMs"] }],
  },
  check: (options) => timeProblems(options, ["timeoutMs", "deadlineMs"]),
  compile({ timeoutMs, deadlineMs }, { clock }) {
    const silent = timeoutMs === undefined ? Number.POSITIVE_INFINITY : msOf(timeoutMs);
    const most = deadlineMs === undefined ? Number.POSITIVE_INFINITY : msOf(deadlineMs);
    const limits = [
      ...(timeoutMs === undefined ? [] : [`at most ${silent} ms without an answer`]),
      ...(deadlineMs === undefined ? [] : [`at most ${most} ms in total`]),
    ];
    const bounds = { silent, most, used: new WeakMap() };
    const alarm = new Alarm(clock);
    return {
      explain: () => ({ effect: "change", reason: limits.join(", ") }),
      call: (next) => (call) => inTime(call, bounds, alarm, next),
    };
  },
};

/** In ms; infinite without a limit. */
interface Bounds {
  readonly silent: number;
  readonly most: number;
  /** What calls that start again have used of both. */
  readonly used: WeakMap<Permissions, Used>;
}

interface Used {
  /** What is left of `most`. */
  readonly leftMs: number;
  readonly silentMs: number;
}

/**
 * Every message of the child restarts the silence timer. Both timers pause while somebody is asked about the
 * call. The child enforces the deadline itself; the timer here also covers the time before, such as waiting
 * in a queue.
 */
function inTime(call: Call, { silent, most, used }: Bounds, alarm: Alarm, next: Handler): Promise<Raw> {
  const { permissions } = call;
  const { leftMs, silentMs } = (permissions && used.get(permissions)) ?? { leftMs: most, silentMs: 0 };
  const end = alarm.now() + leftMs;
  const signal = new CallSignal();
  const forward = (): void => signal.abort(call.signal.reason);
  if (call.signal.aborted) forward();
  else call.signal.addEventListener("abort", forward);
  const timer = new CallTimer(alarm, { silenceMs: silent, deadline: end, silentMs }, (ms) => {
    const reason = ms >= silent ? `No answer within ${silent} ms` : `It took longer than ${most} ms`;
    const text = `${reason}; the call was cancelled. ${mayHaveRun(call.repeat)}`;
    const retryable = call.repeat === "safe";
    signal.abort(new MetaMcpError("timeout", text, { retryable, mayHaveRun: true }));
  });
  const over = (): void => {
    timer.stop();
    if (permissions) used.set(permissions, { leftMs: timer.leftMs, silentMs: timer.silentMs });
    call.signal.removeEventListener("abort", forward);
  };
  const inside = next({
    ...call,
    deadline: Math.min(call.deadline, end),
    signal,
    uplink: heardBy(timer, call.uplink),
    hold: () => held(timer, call.hold),
  });
  return inside.then(
    (result) => {
      over();
      return result;
    },
    (error: unknown) => {
      over();
      throw signal.aborted && !call.signal.aborted ? signal.reason : error;
    },
  );
}

function heardBy(timer: CallTimer, uplink: Uplink): Uplink {
  return {
    notify(...said) {
      timer.touch();
      uplink.notify(...said);
    },
    request: (...asked) => uplink.request(...asked).finally(held(timer)),
  };
}

function held(timer: CallTimer, outer?: Hold): () => void {
  const release = outer?.();
  timer.pause();
  return () => {
    release?.();
    timer.resume();
  };
}
