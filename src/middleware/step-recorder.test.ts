/** The trail of a call has a step for each layer, with its time and outcome. */
import { expect, test } from "vitest";
import type { Middleware } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { callOf, newTrail, RESULT, raw } from "./layer.fixture.ts";
import { pipelineOf } from "./pipeline.ts";

const clock = new ManualClock();

/** Takes time before the call is passed on, and after its result. */
const taking =
  (before: number, after: number): Middleware =>
  (next) =>
  async (call) => {
    clock.advance(before);
    const result = await next(call);
    clock.advance(after);
    return result;
  };
/** Does nothing with the result. */
const passing =
  (before: number): Middleware =>
  (next) =>
  (call) => {
    clock.advance(before);
    return next(call);
  };
const waiting =
  (ms: number): Middleware =>
  (next) =>
  async (call) => {
    await Promise.resolve();
    clock.advance(ms);
    return next(call);
  };
const refusing: Middleware = () => () => Promise.reject(new MetaMcpError("forbidden", "no"));
const answering: Middleware = () => async () => raw(RESULT);

async function recordedTrail(layers: Readonly<Record<string, Middleware>>) {
  const trail = newTrail();
  const placed = Object.entries(layers).map(([use, call]) => ({ use, at: "a test", call }));
  const handler = pipelineOf(
    placed,
    async () => {
      clock.advance(100);
      await Promise.resolve();
      clock.advance(100);
      return raw(RESULT);
    },
    clock,
  );
  await handler(callOf({ more: { trail } })).catch(() => {});
  return { ...trail, layers: trail.layers.map(({ use, ms, outcome }) => `${use} ${outcome} ${ms}`) };
}

test("each step has the time of its layer alone, before and after the call", async () => {
  const layers = { a: taking(1, 2), b: passing(4), c: waiting(8), d: taking(16, 32), e: passing(64) };
  expect((await recordedTrail(layers)).layers).toEqual([
    "a passed 3",
    "b passed 4",
    "c passed 8",
    "d passed 48",
    "e passed 64",
  ]);
});

test("the trail names the layer that refused, not the layers that passed the error on", async () => {
  expect(await recordedTrail({ a: taking(1, 2), b: passing(4), c: refusing, d: passing(8) })).toEqual({
    by: "c",
    place: "a test",
    layers: ["a passed 1", "b passed 4", "c refused 0"],
  });
});

test("a layer that does not pass the call on has the outcome answered", async () => {
  const layers = { a: taking(1, 2), b: passing(4), c: answering, d: passing(8) };
  expect((await recordedTrail(layers)).layers).toEqual(["a passed 3", "b passed 4", "c answered 0"]);
});

test("an error of the server is not attributed to a layer", async () => {
  const fault = new TypeError("the server's own");
  const handler = pipelineOf(
    [{ use: "a", at: "a test", call: passing(1) }],
    () => Promise.reject(fault),
    clock,
  );
  const trail = newTrail();
  await expect(handler(callOf({ more: { trail } }))).rejects.toBe(fault);
  expect(trail).toMatchObject({ layers: [{ use: "a", outcome: "passed" }] });
  expect(trail.by).toBeUndefined();
});
