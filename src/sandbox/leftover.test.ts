import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FULL } from "../../test/support/full.ts";
import { systemClock } from "../engine/system-clock.ts";
import { silentLog } from "../kernel/log.ts";
import { tryRun } from "./try-run.ts";
import { createWasmExecutor } from "./wasm.ts";

/** In short length a host is replaced after fewer runs, so that fewer show it. */
const [RUNS, MAX_SERVED] = process.env["METAMCP_SOAK"] ? [10_000] : FULL ? [1_000] : [140, 50];
const MAX_RESIDENT_KB = 400 << 10;

const MIXED = [
  "1 + 1",
  "await Promise.all([1, 2, 3].map((n) => tools.a.echo({ n })))",
  "throw new Error('x')",
  "const n: number = 1; n",
  "new Uint8Array(1 << 22).length",
  "const a = []; for (;;) a.push(new Uint8Array(1 << 20))",
  "return",
];

const alive = (pid: number): boolean => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

test("many mixed runs leave no process behind, and the hosts stay below 400 MB", {
  timeout: 240_000,
}, async () => {
  const executor = createWasmExecutor({
    clock: systemClock,
    log: silentLog,
    bubblewrap: false,
    maxServed: MAX_SERVED,
  });
  const seen = new Set<number>();
  for (let n = 0; n < RUNS; n += 20) {
    const codes = Array.from({ length: 20 }, (_, i) => MIXED[(n + i) % MIXED.length] as string);
    const outcomes = await Promise.all(codes.map((code) => tryRun(executor, code)));
    for (const { error } of outcomes) expect(["sandbox_terminated", "internal"]).not.toContain(error?.code);
    for (const pid of executor.pids) seen.add(pid);
  }
  expect(seen.size).toBeGreaterThan(1);
  for (const pid of executor.pids) {
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    expect(Number(resident)).toBeLessThan(MAX_RESIDENT_KB);
  }
  await executor.close();
  expect([...seen].filter(alive)).toEqual([]);
});

test("300 runs at once all complete with their own results", {
  timeout: 120_000,
}, async () => {
  const executor = createWasmExecutor({ clock: systemClock, log: silentLog, bubblewrap: false });
  const outcomes = await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      tryRun(executor, `(await tools.a.echo({ n: ${n} })).args.n`, { principal: n % 3 ? "many" : "few" }),
    ),
  );
  expect(outcomes.map(({ value, error }) => value ?? error)).toEqual(outcomes.map((_, n) => String(n)));
  await executor.close();
});
