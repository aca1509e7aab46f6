import { expect, test, vi } from "vitest";
import type { Call, Handler } from "../../kernel/call.ts";
import { ManualClock } from "../../kernel/clock.ts";
import { callOf, newTrail, RESULT, raw } from "../layer.fixture.ts";
import type { Layer } from "../layer.ts";
import { pipelineOf } from "../pipeline.ts";
import { audit } from "./audit.ts";

/** Two required layers around a server that asks for the record, as `engine/server-calls.ts` does. */
function twoLayers(begin: (call: Call) => Promise<void>, ready = true) {
  const clock = new ManualClock();
  const recording = { isReady: () => ready, begin };
  const options = { required: true, arguments: "names", results: "names" };
  const layer = (at: string) => ({
    use: "audit",
    at,
    ...(audit.compile(options, { clock, recording }) as Layer),
  });
  const atServer: Handler = async (call) => {
    await call.trail?.begin?.();
    return raw(RESULT);
  };
  const handle = pipelineOf([layer("outer"), layer("inner")] as never, atServer, clock);
  const trail = newTrail();
  return { trail, made: (): Promise<string> => handle(callOf({ more: { trail } })).then(String) };
}

test("a call through several layers, and one that starts again, begins once", async () => {
  const begin = vi.fn(async () => {});
  const { trail, made } = twoLayers(begin);
  expect(await made()).toContain("done");
  expect(await made()).toContain("done");
  expect([begin.mock.calls.length, trail.required]).toEqual([1, true]);
});

test("if the beginning cannot be recorded, the outer layer refuses the call", async () => {
  const { trail, made } = twoLayers(() => Promise.reject(new Error("away")));
  await expect(made()).rejects.toMatchObject({
    code: "server_unavailable",
    message: expect.stringMatching(/cannot be written.* Nothing was done\.$/),
  });
  expect([trail.by, trail.place]).toEqual(["audit", "outer"]);
});

test("while nothing can be recorded no call reaches the server", async () => {
  const begin = vi.fn(async () => {});
  const { made } = twoLayers(begin, false);
  await expect(made()).rejects.toMatchObject({ code: "server_unavailable" });
  expect(begin).not.toHaveBeenCalled();
});
