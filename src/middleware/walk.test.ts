/** The record of a call tells its way through the layers: who had it, for how long, and what became of it there. */
import { expect, test } from "vitest";
import type { Middleware } from "../kernel/call.ts";
import { ManualClock } from "../kernel/clock.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { callOf, newTrail, RESULT, raw } from "./layer.fixture.ts";
import { pipelineOf } from "./pipeline.ts";

const clock = new ManualClock();

/** Takes so long before the call goes on, and so long on the way back. */
const taking =
  (before: number, after: number): Middleware =>
  (next) =>
  async (call) => {
    clock.advance(before);
    const result = await next(call);
    clock.advance(after);
    return result;
  };
/** Has nothing to do on the way back. */
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

async function wayThrough(layers: Readonly<Record<string, Middleware>>) {
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

test("each layer is told with the time that it took itself, there and back", async () => {
  const layers = { a: taking(1, 2), b: passing(4), c: waiting(8), d: taking(16, 32), e: passing(64) };
  expect((await wayThrough(layers)).layers).toEqual([
    "a passed 3",
    "b passed 4",
    "c passed 8",
    "d passed 48",
    "e passed 64",
  ]);
});

test("it is the layer that refused that is told, not those that passed it on", async () => {
  expect(await wayThrough({ a: taking(1, 2), b: passing(4), c: refusing, d: passing(8) })).toEqual({
    by: "c",
    layers: ["a passed 1", "b passed 4", "c refused 0"],
  });
});

test("what did not go on was answered there", async () => {
  const layers = { a: taking(1, 2), b: passing(4), c: answering, d: passing(8) };
  expect((await wayThrough(layers)).layers).toEqual(["a passed 3", "b passed 4", "c answered 0"]);
});

test("what the server says is no fault of a layer", async () => {
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
