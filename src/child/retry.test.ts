import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Attempt,
  addCall,
  type CallOutcome,
  crashed,
  grantsRespawn,
  mayRepeat,
  noCrashes,
  type PendingCrash,
  pendingCrash,
  type RetryRule,
  restartsWithoutCall,
  settleCall,
} from "./retry.ts";

describe("a restart", () => {
  const once = crashed(noCrashes, { restarted: true, now: 1_000 });

  test("is granted to a server that was not restarted recently, and always to a vital one", () => {
    expect(grantsRespawn(noCrashes, { vital: false, now: 0 })).toBe(true);
    expect(grantsRespawn(once, { vital: false, now: 60_999 })).toBe(false);
    expect(grantsRespawn(once, { vital: true, now: 1_000 })).toBe(true);
  });

  test("is granted again after a minute without a crash", () => {
    expect(grantsRespawn(once, { vital: false, now: 61_000 })).toBe(true);
  });

  test("is refused for a minute after each crash, whether or not it led to a restart", () => {
    const again = crashed(once, { restarted: false, now: 50_000 });
    expect(grantsRespawn(again, { vital: false, now: 100_000 })).toBe(false);
    expect(grantsRespawn(again, { vital: false, now: 110_000 })).toBe(true);
  });

  test("is granted after a crash that led to no restart", () => {
    const alone = crashed(noCrashes, { restarted: false, now: 0 });
    expect(grantsRespawn(alone, { vital: false, now: 1 })).toBe(true);
  });

  test("counts from one again after a minute without a crash", () => {
    expect(crashed(once, { restarted: true, now: 61_000 }).restarts).toBe(1);
    expect(crashed(once, { restarted: true, now: 2_000 }).restarts).toBe(2);
  });
});

describe("a call", () => {
  const call: Attempt = { repeat: "unknown", over: false, unsent: false, tries: 1, sent: 1 };
  const unsent: Attempt = { ...call, unsent: true, sent: 0 };
  const granted = { respawn: true, retry: "crash" } as const;

  test("without annotations, or declared safe, of a server with retry crash gets a second attempt and no third", () => {
    expect(mayRepeat(call, granted)).toBe(true);
    expect(mayRepeat({ ...call, repeat: "safe" }, granted)).toBe(true);
    expect(mayRepeat({ ...call, tries: 2, sent: 2 }, granted)).toBe(false);
  });

  test("is repeated with retry safe only if its tool declares that as safe", () => {
    const rule = { respawn: true, retry: "safe" } as const;
    expect(mayRepeat({ ...call, repeat: "safe" }, rule)).toBe(true);
    for (const repeat of ["unknown", "unsafe"] as const)
      expect(mayRepeat({ ...call, repeat }, rule)).toBe(false);
    expect(mayRepeat(unsent, rule)).toBe(true);
  });

  test.each<[string, Partial<Attempt>, Partial<RetryRule>, boolean]>([
    ["that declares nothing", {}, {}, true],
    ["that is declared unsafe", { repeat: "unsafe" }, {}, false],
    ["that certainly was not sent", { unsent: true }, {}, false],
    ["of a server that is not restarted", {}, { respawn: false }, false],
    ["of a server with retry never", {}, { retry: "never" }, false],
  ])("%s: the server is restarted without it", (_, attempt, rule, restarted) => {
    expect(restartsWithoutCall({ ...call, ...attempt }, { respawn: true, retry: "safe", ...rule })).toBe(
      restarted,
    );
  });

  test.each<[string, Attempt, RetryRule]>([
    ["declared unsafe", { ...call, repeat: "unsafe" }, granted],
    ["answered, timed out or cancelled", { ...call, over: true }, granted],
    ["unsent but cancelled", { ...unsent, over: true }, granted],
    ["of a server that is not restarted", call, { ...granted, respawn: false }],
    ["of a server with retry never", call, { ...granted, retry: "never" }],
  ])("%s is not repeated", (_, attempt, server) => {
    expect(mayRepeat(attempt, server)).toBe(false);
  });

  test("that certainly was not sent is tried up to three times, even if it may not be repeated", () => {
    const refused = { respawn: false, retry: "never" } as const;
    expect(mayRepeat({ ...unsent, repeat: "unsafe" }, refused)).toBe(true);
    expect(mayRepeat({ ...unsent, tries: 2 }, refused)).toBe(true);
    expect(mayRepeat({ ...unsent, tries: 3 }, refused)).toBe(false);
  });

  test("that was not sent at the first try still gets a second attempt after it was sent", () => {
    expect(mayRepeat({ ...call, tries: 2, sent: 1 }, granted)).toBe(true);
    expect(mayRepeat({ ...call, tries: 3, sent: 2 }, granted)).toBe(false);
  });
});

const crashUnder = (calls: number, before?: PendingCrash) => pendingCrash(before, calls).pending;
const one = crashUnder(1);

/** The number of failures recorded for a crash whose calls have these outcomes. */
function failures(outcomes: readonly CallOutcome[], crash: PendingCrash): number {
  let [pending, count] = [crash, 0];
  for (const outcome of outcomes) {
    const update = settleCall(pending, outcome);
    pending = update.pending;
    if (update.failure) count += 1;
  }
  return count;
}

describe("a crash", () => {
  test("is one failure if no call is repeated, however many calls there were", () => {
    expect(failures(["unknown"], crashUnder(1))).toBe(1);
    expect(failures(["unknown", "unknown", "unknown"], crashUnder(3))).toBe(1);
  });

  test("is not recorded before the outcome of the last call is known", () => {
    expect(failures(["unknown", "unknown"], crashUnder(3))).toBe(0);
    expect(failures(["unknown", "unknown", "recovered"], crashUnder(3))).toBe(0);
  });

  test("is one failure if the restart fails, although all its callers report it", () => {
    expect(failures(["failed", "failed", "failed"], crashUnder(3))).toBe(1);
  });

  test("that was recorded with the crash before it is recorded again only if its own restart fails", () => {
    expect(failures(["unknown"], crashUnder(1, one))).toBe(0);
    expect(failures(["unknown", "failed"], crashUnder(2, one))).toBe(1);
  });

  test("of a connection without calls is no failure", () => {
    expect(failures(["failed"], crashUnder(0))).toBe(0);
  });

  const outcomes = fc.array(fc.constantFrom<CallOutcome>("recovered", "failed", "unknown"), {
    minLength: 1,
    maxLength: 8,
  });

  test("is exactly one failure, or none if a call recovered before another failed", () => {
    fc.assert(
      fc.property(outcomes, (all) => {
        const decisive = all.find((outcome) => outcome !== "unknown");
        expect(failures(all, crashUnder(all.length))).toBe(decisive === "recovered" ? 0 : 1);
      }),
    );
  });

  test("of every restart in a row records one failure less than there are crashes", () => {
    let count = 0;
    let before: PendingCrash | undefined;
    for (let crashes = 0; crashes < 6; crashes += 1) {
      const crash = pendingCrash(before, 2);
      if (crash.failure) count += 1;
      before = settleCall(crash.pending, "unknown").pending;
    }
    expect(count).toBe(5);
  });

  test("that is settled is not recorded when the connection opened after it is lost later", () => {
    const recovered = settleCall(one, "recovered").pending;
    expect(pendingCrash(recovered, 1)).toEqual({ pending: one, failure: false });
    expect(pendingCrash(one, 0).failure).toBe(false);
  });
});

describe("a call that learns of a crash later than others", () => {
  test("counts with the crash once if the crash is still pending", () => {
    const both = addCall(one);
    const first = settleCall(both, "unknown");
    expect(first.failure).toBe(false);
    expect(settleCall(first.pending, "unknown").failure).toBe(true);
    expect(settleCall(first.pending, "recovered").failure).toBe(false);
  });

  test.each(["unknown", "recovered", "failed"] as const)(
    "does not count if the crash was settled as %s",
    (outcome) => {
      const late = addCall(settleCall(one, outcome).pending);
      expect(settleCall(late, "unknown").failure).toBe(false);
      expect(settleCall(late, "recovered").failure).toBe(false);
    },
  );
});
