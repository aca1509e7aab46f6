/**
 * What a run in the same sandbox process notices of an attack. Long computation may delay it for a while, but
 * unusual values must not end it.
 */
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/engine/system-clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import type { OutCall } from "../../src/sandbox/executor.ts";
import { tryRun } from "../../src/sandbox/try-run.ts";
import { createWasmExecutor } from "../../src/sandbox/wasm.ts";
import { TRICKS } from "./tricks.ts";

const LIMITS = { wallMs: 1_000, cpuMs: 400 };
/**
 * Cases with one engine step that cannot be interrupted. There the sandbox process is killed, and the other
 * run gets an error.
 */
const NOT_INTERRUPTIBLE = new Set(["an endless BigInt product", "large arguments of calls that wait"]);

const executor = createWasmExecutor({
  clock: systemClock,
  log: silentLog,
  bubblewrap: false,
  maxHosts: 1,
});
afterAll(() => executor.close());

const call = ({ tool, signal }: OutCall): Promise<string> =>
  tool === "hang"
    ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))))
    : Promise.resolve('{"content":[],"structuredContent":{"ok":true}}');

const HONEST_CODE = "for (let i = 0; i < 5; i++) { await tools.a.echo({}); await sleep(5) } 'fine'";

describe("a run in the same sandbox process", () => {
  test.each(TRICKS)("survives $name", async ({ name, code }) => {
    await tryRun(executor, "1");
    const [host] = executor.pids;
    let reports = 0;
    const before = tryRun(executor, HONEST_CODE, { call, principal: "neighbour" });
    const attack = tryRun(executor, code, {
      call,
      limits: LIMITS,
      principal: "attacker",
      progress: () => reports++,
    });
    const after = tryRun(executor, HONEST_CODE, { call, principal: "neighbour" });
    const outcomes = await Promise.all([before, after]);
    const { error } = await attack;
    if (executor.pids[0] !== host) {
      expect([...NOT_INTERRUPTIBLE]).toContain(name);
      for (const one of outcomes) if (one.error) expect(one.error.message).toMatch(/code was not run again/);
    } else expect(outcomes.map(({ value }) => value)).toEqual(['"fine"', '"fine"']);
    if (error) expect(["sandbox_limit", "execution_failed"]).toContain(error.code);
    expect(reports).toBeLessThan(40);
    expect(await tryRun(executor, "6 * 7")).toMatchObject({ value: "42" });
  });
});

test("a thrown value that cannot be read is reported without waiting for the timeout", async () => {
  const { error } = await tryRun(executor, "throw { message: { toString() { throw 1 } } }");
  expect(error).toMatchObject({ code: "execution_failed" });
  expect(error?.message).toContain("unreadable value");
});

test("the timer beyond the limit fails when it is set, and the earlier timers fire", async () => {
  const { value } = await tryRun(
    executor,
    "const all = await Promise.allSettled(Array.from({ length: 1100 }, () => sleep(1))); all.filter(({ status }) => status === 'fulfilled').length + ' ' + all.at(-1).reason.name",
  );
  expect(value).toBe('"1000 RangeError"');
});
