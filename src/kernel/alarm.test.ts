import fc from "fast-check";
import { expect, test } from "vitest";
import { Alarm } from "./alarm.ts";
import { CallTimer } from "./call-timer.ts";
import { ManualClock } from "./clock.ts";

/** What may happen to a call. Times are small, so that they often coincide. */
const step = fc.oneof(
  fc.record({ do: fc.constant("begin"), silenceMs: fc.nat(20), deadlineMs: fc.nat(30) }),
  fc.record({ do: fc.constantFrom("touch", "pause", "resume", "stop"), call: fc.nat(2) }),
  fc.record({ do: fc.constant("wait"), ms: fc.nat(12) }),
);

/** The model of one call with its own timer, checked each millisecond. */
class Model {
  readonly silenceMs: number;
  deadline: number;
  lastSign: number;
  pauses = 0;
  pausedAt = 0;
  over = false;

  constructor(now: number, silenceMs: number, deadlineMs: number) {
    this.lastSign = now;
    this.silenceMs = silenceMs;
    this.deadline = now + deadlineMs;
  }

  isDue(now: number): boolean {
    if (this.over || this.pauses > 0) return false;
    return now >= Math.min(this.lastSign + this.silenceMs, this.deadline);
  }

  do(what: string, now: number): void {
    if (what === "touch") this.lastSign = now;
    else if (what === "stop") this.over = true;
    else if (what === "pause" && this.pauses++ === 0) this.pausedAt = now;
    else if (what === "resume" && this.pauses > 0 && --this.pauses === 0) {
      this.deadline += now - this.pausedAt;
      this.lastSign = now;
    }
  }
}

test("each of many calls with one alarm expires as if it had its own timer", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new ManualClock();
      const alarm = new Alarm(clock);
      const models: Model[] = [];
      const timers: CallTimer[] = [];
      const expired: string[] = [];
      const expected: string[] = [];
      const look = (): void => {
        for (const [index, model] of models.entries()) {
          if (!model.isDue(clock.now())) continue;
          model.over = true;
          expected.push(`${index} at ${clock.now()}, silent for ${clock.now() - model.lastSign}`);
        }
      };
      for (const one of steps) {
        // Timeouts that are due now expire before the next step.
        clock.advance(0);
        look();
        if ("silenceMs" in one) {
          const index = models.length;
          models.push(new Model(clock.now(), one.silenceMs, one.deadlineMs));
          const limits = { silenceMs: one.silenceMs, deadline: clock.now() + one.deadlineMs };
          const told = (silent: number): void => {
            expired.push(`${index} at ${clock.now()}, silent for ${silent}`);
          };
          timers.push(new CallTimer(alarm, limits, told));
        } else if ("ms" in one)
          for (let passed = 0; passed < one.ms; passed++) {
            clock.advance(1);
            look();
          }
        else {
          const timer = timers[one.call];
          const model = models[one.call];
          if (!timer || !model || model.over) continue;
          timer[one.do as "touch" | "pause" | "resume" | "stop"]();
          model.do(one.do, clock.now());
        }
      }
      clock.advance(0);
      look();
      expect(expired.toSorted()).toEqual(expected.toSorted());
    }),
    { numRuns: 1_000 },
  );
});

test("calls that end before they are due share one timer of the clock", () => {
  const clock = new ManualClock();
  const alarm = new Alarm(clock);
  for (let call = 0; call < 100; call++) {
    const timer = new CallTimer(alarm, { silenceMs: 1_000, deadline: 1e9 }, () => {
      throw new Error("it was stopped");
    });
    clock.advance(1);
    timer.stop();
    expect(clock.pending).toBe(1);
  }
  clock.advance(2_000);
  expect(clock.pending).toBe(0);
});

test("a call that expires may stop another call that is due at the same time", () => {
  const clock = new ManualClock();
  const alarm = new Alarm(clock);
  const expired: string[] = [];
  const limits = { silenceMs: 10, deadline: 1e9 };
  const both: CallTimer[] = ["a", "b"].map(
    (name) =>
      new CallTimer(alarm, limits, () => {
        expired.push(name);
        for (const timer of both) timer.stop();
      }),
  );
  clock.advance(10);
  expect(expired).toHaveLength(1);
});

test("a pause is limited, and its time does not count for the other timeouts", () => {
  const clock = new ManualClock();
  const expired: number[] = [];
  const limits = { silenceMs: 10, deadline: 20, pauseMs: 600_000 };
  const timer = new CallTimer(new Alarm(clock), limits, (ms) => expired.push(ms));
  timer.pause();
  clock.advance(599_999);
  expect(expired).toEqual([]);
  timer.resume();
  clock.advance(9);
  expect(expired).toEqual([]);
  timer.pause();
  clock.advance(600_000);
  expect(expired).toHaveLength(1);
});

test("after the process was blocked, each call that became due meanwhile gets extra time once", () => {
  const still = new ManualClock();
  let stood = 0;
  const clock = { now: () => still.now() + stood, after: still.after.bind(still) };
  const alarm = new Alarm(clock);
  const expired: string[] = [];
  const begin = (name: string) =>
    new CallTimer(alarm, { silenceMs: 10, deadline: 1e9 }, () => expired.push(name));
  const answered = begin("answered");
  begin("silent");
  stood = 5_000;
  still.advance(10);
  expect(expired).toEqual([]);
  answered.stop();
  begin("another");
  stood = 10_000;
  still.advance(1_000);
  expect(expired).toEqual(["silent"]);
  still.advance(1_000);
  expect(expired).toEqual(["silent", "another"]);
});

test("a call whose deadline is already over when it begins gets no extra time", () => {
  const clock = new ManualClock();
  clock.advance(1_000);
  const expired: number[] = [];
  new CallTimer(new Alarm(clock), { silenceMs: 10, deadline: 0 }, (ms) => expired.push(ms));
  clock.advance(0);
  expect(expired).toEqual([0]);
});
