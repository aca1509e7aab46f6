import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LOCAL } from "../../kernel/principal.ts";
import { EMPTY_OBJECT, type Raw } from "../../kernel/raw.ts";
import { CallSignal } from "../../kernel/signal.ts";
import type { ClientRequest } from "../surface.ts";
import { RequestTimeout } from "./request-timeout.ts";

function open(timeoutMs: number | undefined) {
  const clock = new ManualClock();
  const given = new CallSignal();
  const timeout = new RequestTimeout(clock, given, timeoutMs);
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
    timeout,
    limited: timeout.applyTo(request),
    answer: () => answers.shift()?.(EMPTY_OBJECT),
  };
}

test("the timeout aborts the inner signal and reports that it expired", () => {
  const { clock, timeout, limited, given } = open(100);
  clock.advance(99);
  expect(limited.signal.aborted).toBe(false);
  clock.advance(1);
  expect([limited.signal.aborted, timeout.expired, given.aborted]).toEqual([true, true, false]);
});

test("a cancelled caller aborts the inner signal without expiry", () => {
  const { given, timeout, limited } = open(100);
  const reason = new Error("enough");
  given.abort(reason);
  expect([limited.signal.reason, timeout.expired]).toEqual([reason, false]);
  expect(open(undefined).clock.pending).toBe(0);
});

test("the timeout pauses while one or two questions to the client are open", async () => {
  const { clock, timeout, limited, answer } = open(100);
  clock.advance(60);
  const first = limited.uplink.request("elicitation/create", undefined, limited.signal);
  const second = limited.uplink.request("elicitation/create", undefined, limited.signal);
  clock.advance(500_000);
  answer();
  await first;
  clock.advance(500_000);
  expect(timeout.expired).toBe(false);
  answer();
  await second;
  clock.advance(39);
  expect(timeout.expired).toBe(false);
  clock.advance(1);
  expect(timeout.expired).toBe(true);
});

test("release leaves no timer and no listener", () => {
  const { clock, given, timeout, limited } = open(100);
  timeout.release();
  expect(clock.pending).toBe(0);
  given.abort(new Error("later"));
  expect(limited.signal.aborted).toBe(false);
});
