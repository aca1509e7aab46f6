import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../surface.ts";
import { Patience } from "./patience.ts";

function open(timeoutMs: number | undefined) {
  const clock = new ManualClock();
  const given = new CallSignal();
  const patience = new Patience(clock, given, timeoutMs);
  const answers: ((answer: Raw) => void)[] = [];
  const uplink = {
    notify: () => {},
    request: () => new Promise<Raw>((resolve) => void answers.push(resolve)),
  };
  const origin = { ...LOCAL, session: "s", capabilities: EMPTY_OBJECT, uplink };
  const request: ClientRequest = { method: "tools/call", params: undefined, origin, signal: given, uplink };
  return {
    clock,
    given,
    patience,
    bound: patience.bound(request),
    answer: () => answers.shift()?.(EMPTY_OBJECT),
  };
}

test("its time ends it, and says so", () => {
  const { clock, patience, bound, given } = open(100);
  clock.advance(99);
  expect(bound.signal.aborted).toBe(false);
  clock.advance(1);
  expect([bound.signal.aborted, patience.ended, given.aborted]).toEqual([true, true, false]);
});

test("who cancels ends it too, without its time being over", () => {
  const { given, patience, bound } = open(100);
  const reason = new Error("enough");
  given.abort(reason);
  expect([bound.signal.reason, patience.ended]).toEqual([reason, false]);
  expect(open(undefined).clock.pending).toBe(0);
});

test("time stands still while somebody is asked, once or twice at a time", async () => {
  const { clock, patience, bound, answer } = open(100);
  clock.advance(60);
  const first = bound.uplink.request("elicitation/create", undefined, bound.signal);
  const second = bound.uplink.request("elicitation/create", undefined, bound.signal);
  clock.advance(500_000);
  answer();
  await first;
  clock.advance(500_000);
  expect(patience.ended).toBe(false);
  answer();
  await second;
  clock.advance(39);
  expect(patience.ended).toBe(false);
  clock.advance(1);
  expect(patience.ended).toBe(true);
});

test("what is done leaves no timer and no listener", () => {
  const { clock, given, patience, bound } = open(100);
  patience.release();
  expect(clock.pending).toBe(0);
  given.abort(new Error("later"));
  expect(bound.signal.aborted).toBe(false);
});
