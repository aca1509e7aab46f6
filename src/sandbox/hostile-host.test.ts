import { expect, test } from "vitest";
import type { Clock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { systemClock } from "../system-clock.ts";
import { LIMITS, type OutCall } from "./executor.ts";
import { HostedExecutor } from "./hosted.ts";
import { tryRun } from "./try-run.ts";

/** A host that says what the test wants: `frames` after it was told to run something. */
function hostile(frames: string, clock: Clock = systemClock) {
  const script = `
    const say = (line) => process.stdout.write(typeof line === "string" ? line : JSON.stringify(line) + "\\n");
    const wait = (ms) => new Promise((done) => setTimeout(done, ms));
    let rest = "";
    process.stdin.on("end", () => process.exit());
    process.stdin.on("data", async (chunk) => {
      rest += chunk;
      const lines = rest.split("\\n");
      rest = lines.pop();
      for (const line of lines) {
        const frame = JSON.parse(line);
        if (frame.type === "init") say({ type: "ready" });
        if (frame.type !== "exec") continue;
        const { id } = frame;
        ${frames}
      }
    });`;
  return new HostedExecutor({
    backend: { name: "hostile", unsafe: true, enforced: [] },
    clock,
    log: silentLog,
    mostHosts: 1,
    launch: () => ({ command: process.execPath, args: ["-e", script] }),
  });
}

async function outcomeOf(frames: string, limits = {}) {
  const executor = hostile(frames);
  const calls: OutCall[] = [];
  const call = (one: OutCall): Promise<string> => {
    calls.push(one);
    return new Promise(() => {});
  };
  const outcome = await tryRun(executor, "whatever", { call, limits });
  await executor.close();
  return { outcome, calls };
}

const CALL = `{ type: "call", id, callId: n, server: "a", tool: "t", args: "{}" }`;

test.each([
  ["something that is no frame", `say("not json\\n")`],
  ["a frame of no known type", `say({ type: "root", id })`],
  ["a line without end", `for (let i = 0; i < 10; i++) say("x".repeat(1 << 20))`],
  ["more calls than are allowed", `for (let n = 0; n < ${LIMITS.callsInFlight + 1}; n++) say(${CALL})`],
  ["the same call twice", `const n = 1; say(${CALL}); say(${CALL})`],
  [
    "arguments that are too large",
    `say({ type: "call", id, callId: 1, server: "a", tool: "t", args: JSON.stringify({ s: "x".repeat(2 << 20) }) })`,
  ],
  [
    "logs without end",
    `for (let i = 0; i < 200; i++) say({ type: "log", id, level: "log", text: "x".repeat(1000) })`,
  ],
  ["a call without a name", `say({ type: "call", id, callId: 1, server: 5, tool: null, args: "{}" })`],
  ["signs of life without end", `for (;;) say({ type: "heartbeat", id: 7 })`],
  [
    "megabytes for nobody",
    `for (let i = 0; i < 8; i++) say({ type: "log", id: id + 9, level: "log", text: "x".repeat(1 << 20) })`,
  ],
  ["its own death", `process.kill(process.pid, "SIGKILL")`],
])("a host that sends %s is ended, and its run is told", async (_name, frames) => {
  const { outcome, calls } = await outcomeOf(frames);
  expect(["sandbox_terminated", "sandbox_limit"]).toContain(outcome.error?.code);
  expect(calls.length).toBeLessThanOrEqual(LIMITS.callsInFlight);
});

test("progress without end is thinned out before anybody hears it", async () => {
  const executor = hostile(
    `for (let done = 0; done < 5000; done++) say({ type: "progress", id, done, total: done }); say({ type: "done", id, value: "1" })`,
  );
  let heard = 0;
  const outcome = await tryRun(executor, "whatever", { progress: () => heard++ });
  expect(outcome).toMatchObject({ value: "1" });
  expect(heard).toBeGreaterThan(0);
  expect(heard).toBeLessThan(100);
  await executor.close();
});

test("who is not to be believed is not blamed for time: its run is told that it was killed", async () => {
  const { outcome } = await outcomeOf(`const n = 1; say(${CALL}); say(${CALL})`);
  expect(outcome.error).toMatchObject({ code: "sandbox_terminated" });
  expect(outcome.error).not.toHaveProperty("limit");
});

test("frames for other runs reach nobody", async () => {
  const { outcome, calls } = await outcomeOf(
    `say({ type: "call", id: id + 7, callId: 1, server: "a", tool: "t", args: "{}" });
     say({ type: "log", id: id + 7, level: "log", text: "forged" });
     say({ type: "done", id: id + 7, value: "666" });
     say({ type: "done", id, value: "1" });
     say({ type: "done", id, value: "2" });`,
  );
  expect(outcome).toMatchObject({ value: "1", logs: [] });
  expect(calls).toEqual([]);
});

test("a value that is no JSON is no value", async () => {
  const { outcome } = await outcomeOf(`say({ type: "done", id, value: '1}, "isError": false, "x": {' })`);
  expect(outcome.value).toBeUndefined();
  expect(outcome.error?.code).toBe("internal");
});

test("arguments that are no object are refused without asking anybody", async () => {
  const { calls } = await outcomeOf(
    `for (const [n, args] of ["[]", "{", '{} , "name": "other"', "7"].entries()) say({ type: "call", id, callId: n, server: "a", tool: "t", args });
     await wait(50); say({ type: "done", id })`,
  );
  expect(calls).toEqual([]);
});

test("a host that falls silent is killed, and so are its neighbours' runs, never repeated", async () => {
  const executor = hostile(`if (frame.code === "spin") for (;;);`);
  const limits = { cpuMs: 300, wallMs: 30_000 };
  const [spin, neighbour] = await Promise.all([
    tryRun(executor, "spin", { limits }),
    tryRun(executor, "wait", { limits }),
  ]);
  const codes = [spin.error?.code, neighbour.error?.code];
  expect(codes).toContain("sandbox_terminated");
  expect(neighbour.error?.message).toMatch(/not run again|CPU limit/);
  await executor.close();
});

test("a host is not blamed for a time in which we did not run ourselves", async () => {
  let stoodStill = 0;
  const clock: Clock = { now: () => systemClock.now() + stoodStill, after: systemClock.after };
  const executor = hostile(
    `const n = 1; say(${CALL}); setTimeout(() => say({ type: "done", id, value: "1" }), 1_000)`,
    clock,
  );
  const call = (): Promise<string> => {
    stoodStill = 60_000;
    return new Promise(() => {});
  };
  expect(await tryRun(executor, "whatever", { call, limits: { cpuMs: 10_000 } })).toMatchObject({
    value: "1",
  });
  await executor.close();
});

test("results that a host does not read are not kept without end", async () => {
  const executor = hostile(
    `process.stdin.pause(); for (let n = 0; n < 100; n++) { say({ type: "call", id, callId: n, server: "a", tool: "t", args: "{}" }); await wait(5) }`,
  );
  const megabytes = JSON.stringify("x".repeat((4 << 20) - 2));
  const { error, calls } = await tryRun(executor, "whatever", { call: () => Promise.resolve(megabytes) });
  expect(error?.code).toBe("sandbox_terminated");
  expect(calls.length).toBeLessThan(100);
  await executor.close();
});
