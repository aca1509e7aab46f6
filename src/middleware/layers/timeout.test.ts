import { expect, test } from "vitest";
import type { Call } from "../../kernel/call.ts";
import type { Raw } from "../../kernel/raw.ts";
import { callOf, RESULT, raw, silent, testPipeline } from "../layer.fixture.ts";

async function slow(options: object) {
  let answer: (() => void) | undefined;
  let made: Call | undefined;
  const standing = await testPipeline([{ use: "timeout", ...options }], (call) => {
    made = call;
    return new Promise<Raw>((resolve, reject) => {
      answer = () => resolve(raw(RESULT));
      call.signal.addEventListener("abort", () => reject(call.signal.reason as Error));
    });
  });
  return { ...standing, answer: () => answer?.(), inside: () => made as Call };
}

test("a call without an answer ends after timeoutMs and is cancelled at the server", async () => {
  const { call, clock, inside } = await slow({ timeoutMs: "2s" });
  const answer = expect(call()).rejects.toMatchObject({ code: "timeout" });
  clock.advance(2_000);
  await answer;
  expect(inside().signal.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("each message of the server restarts timeoutMs, and the timer pauses while somebody is asked", async () => {
  const { call, clock, inside, answer } = await slow({ timeoutMs: 1_000 });
  let reply: (() => void) | undefined;
  const uplink = {
    ...silent,
    request: () => new Promise<Raw>((resolve) => (reply = () => resolve(raw("{}")))),
  };
  const done = call(callOf({ more: { uplink } }));
  clock.advance(900);
  inside().uplink.notify("notifications/progress", raw("{}"));
  clock.advance(900);
  const asked = inside().uplink.request("elicitation/create", undefined, inside().signal);
  clock.advance(60_000);
  reply?.();
  await asked;
  const release = inside().hold?.();
  clock.advance(60_000);
  release?.();
  clock.advance(900);
  answer();
  expect(String(await done)).toBe(RESULT);
  clock.advance(1_000);
  expect(clock.pending, "no timer is left").toBe(0);
});

test("deadlineMs shortens the deadline of a call, but never extends it", async () => {
  const { call, inside, answer } = await slow({ deadlineMs: 5_000 });
  for (const [given, left] of [
    [Number.POSITIVE_INFINITY, 5_000],
    [3_000, 3_000],
  ]) {
    const done = call(callOf({ more: { deadline: given as number } }));
    expect(inside().deadline).toBe(left);
    answer();
    await done;
  }
});

test("deadlineMs ends a call wherever it is, and pauses while somebody is asked", async () => {
  const { call, clock, inside } = await slow({ deadlineMs: 1_000 });
  let reply: (() => void) | undefined;
  const uplink = {
    ...silent,
    request: () => new Promise<Raw>((resolve) => (reply = () => resolve(raw("{}")))),
  };
  const answer = expect(call(callOf({ more: { uplink } }))).rejects.toMatchObject({ code: "timeout" });
  clock.advance(900);
  const asked = inside().uplink.request("elicitation/create", undefined, inside().signal);
  clock.advance(60_000);
  reply?.();
  await asked;
  clock.advance(99);
  expect(inside().signal.aborted).toBe(false);
  clock.advance(1);
  await answer;
  expect(inside().signal.aborted).toBe(true);
  expect(clock.pending).toBe(0);
});

test("a cancelled call is cancelled inside too, with the reason of the caller", async () => {
  const { call, inside } = await slow({ timeoutMs: 1_000 });
  const given = callOf();
  const answer = expect(call(given)).rejects.toThrow("changed my mind");
  (given.signal as unknown as { abort(reason: Error): void }).abort(new Error("changed my mind"));
  await answer;
  expect(inside().signal.aborted).toBe(true);
});

test("the total time goes on, without the wait, when a call starts again after an approval", async () => {
  const layers = [
    { use: "timeout", deadlineMs: 1_000 },
    { use: "concurrency", max: 1, queue: 1 },
    { use: "policy", default: "allow", rules: [{ effect: "approve", tools: ["one:second"] }] },
  ];
  const answers: ((result: Raw) => void)[] = [];
  const { call, outcome, clock, waiting, seen } = await testPipeline(
    layers,
    ({ signal }) =>
      new Promise((resolve, reject) => {
        answers.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  );
  const first = call({ tool: "one:first" });
  const second = outcome({ tool: "one:second" });
  clock.advance(900);
  answers[0]?.(raw(RESULT));
  await first;
  await expect.poll(() => waiting.length).toBe(1);
  clock.advance(60_000);
  waiting[0]?.yes();
  await expect.poll(() => seen.length).toBe(2);
  clock.advance(99);
  expect(seen[1]?.signal.aborted).toBe(false);
  clock.advance(1);
  expect(seen[1]?.signal.aborted).toBe(true);
  expect(await second).toBe("timeout");
});
