import { expect, test } from "vitest";
import { systemClock } from "../engine/system-clock.ts";
import type { Clock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { LIMITS, type OutCall } from "./executor.ts";
import { HostedExecutor } from "./hosted.ts";
import { tryRun } from "./try-run.ts";

/** An executor whose host runs the script `frames` when it gets an `exec` frame. */
function hostile(frames: string, clock: Clock = systemClock) {
  const script = `
    const send = (line) => process.stdout.write(typeof line === "string" ? line : JSON.stringify(line) + "\\n");
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
    let rest = "";
    process.stdin.on("end", () => process.exit());
    process.stdin.on("data", async (chunk) => {
      rest += chunk;
      const lines = rest.split("\\n");
      rest = lines.pop();
      for (const line of lines) {
        const frame = JSON.parse(line);
        if (frame.type === "init") send({ type: "ready" });
        if (frame.type !== "exec") continue;
        const { id } = frame;
        ${frames}
      }
    });`;
  return new HostedExecutor({
    backend: { name: "hostile", unsafe: true, enforced: [] },
    clock,
    log: silentLog,
    maxHosts: 1,
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
  ["an invalid frame", `send("not json\\n")`],
  ["a frame of an unknown type", `send({ type: "root", id })`],
  ["an endless line", `for (let i = 0; i < 10; i++) send("x".repeat(1 << 20))`],
  ["more calls than allowed", `for (let n = 0; n < ${LIMITS.callsInFlight + 1}; n++) send(${CALL})`],
  ["the same call twice", `const n = 1; send(${CALL}); send(${CALL})`],
  [
    "arguments that are too large",
    `send({ type: "call", id, callId: 1, server: "a", tool: "t", args: JSON.stringify({ s: "x".repeat(2 << 20) }) })`,
  ],
  [
    "endless logs",
    `for (let i = 0; i < 200; i++) send({ type: "log", id, level: "log", text: "x".repeat(1000) })`,
  ],
  ["a call without a name", `send({ type: "call", id, callId: 1, server: 5, tool: null, args: "{}" })`],
  ["endless heartbeats", `for (;;) send({ type: "heartbeat", id: 7 })`],
  [
    "megabytes of frames without a run",
    `for (let i = 0; i < 8; i++) send({ type: "log", id: id + 9, level: "log", text: "x".repeat(1 << 20) })`,
  ],
  ["SIGKILL to itself", `process.kill(process.pid, "SIGKILL")`],
])("a host that sends %s is killed, and its run fails", async (_name, frames) => {
  const { outcome, calls } = await outcomeOf(frames);
  expect(["sandbox_terminated", "sandbox_limit"]).toContain(outcome.error?.code);
  expect(calls.length).toBeLessThanOrEqual(LIMITS.callsInFlight);
});

test("endless progress frames are dropped above the rate limit", async () => {
  const executor = hostile(
    `for (let done = 0; done < 5000; done++) send({ type: "progress", id, done, total: done }); send({ type: "done", id, value: "1" })`,
  );
  let received = 0;
  const outcome = await tryRun(executor, "whatever", { progress: () => received++ });
  expect(outcome).toMatchObject({ value: "1" });
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(100);
  await executor.close();
});

test("the run of a host that breaks the protocol fails as terminated, without a limit", async () => {
  const { outcome } = await outcomeOf(`const n = 1; send(${CALL}); send(${CALL})`);
  expect(outcome.error).toMatchObject({ code: "sandbox_terminated" });
  expect(outcome.error).not.toHaveProperty("limit");
});

test("frames with the id of another run are ignored", async () => {
  const { outcome, calls } = await outcomeOf(
    `send({ type: "call", id: id + 7, callId: 1, server: "a", tool: "t", args: "{}" });
     send({ type: "log", id: id + 7, level: "log", text: "forged" });
     send({ type: "done", id: id + 7, value: "666" });
     send({ type: "done", id, value: "1" });
     send({ type: "done", id, value: "2" });`,
  );
  expect(outcome).toMatchObject({ value: "1", logs: [] });
  expect(calls).toEqual([]);
});

test("a value that is not JSON is an internal error", async () => {
  const { outcome } = await outcomeOf(`send({ type: "done", id, value: '1}, "isError": false, "x": {' })`);
  expect(outcome.value).toBeUndefined();
  expect(outcome.error?.code).toBe("internal");
});

test("a call whose arguments are not an object is refused without calling the tool", async () => {
  const { calls } = await outcomeOf(
    `for (const [n, args] of ["[]", "{", '{} , "name": "other"', "7"].entries()) send({ type: "call", id, callId: n, server: "a", tool: "t", args });
     await sleep(50); send({ type: "done", id })`,
  );
  expect(calls).toEqual([]);
});

test("a silent host is killed, and its other runs end without being repeated", async () => {
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

test("time in which the gateway was suspended does not count as silence of a host", async () => {
  let suspendedMs = 0;
  const clock: Clock = { now: () => systemClock.now() + suspendedMs, after: systemClock.after };
  const executor = hostile(
    `const n = 1; send(${CALL}); setTimeout(() => send({ type: "done", id, value: "1" }), 1_000)`,
    clock,
  );
  const call = (): Promise<string> => {
    suspendedMs = 60_000;
    return new Promise(() => {});
  };
  expect(await tryRun(executor, "whatever", { call, limits: { cpuMs: 10_000 } })).toMatchObject({
    value: "1",
  });
  await executor.close();
});

test("a host that does not read its results is killed", async () => {
  const executor = hostile(
    `process.stdin.pause(); for (let n = 0; n < 100; n++) { send({ type: "call", id, callId: n, server: "a", tool: "t", args: "{}" }); await sleep(5) }`,
  );
  const megabytes = JSON.stringify("x".repeat((4 << 20) - 2));
  const { error, calls } = await tryRun(executor, "whatever", { call: () => Promise.resolve(megabytes) });
  expect(error?.code).toBe("sandbox_terminated");
  expect(calls.length).toBeLessThan(100);
  await executor.close();
});
