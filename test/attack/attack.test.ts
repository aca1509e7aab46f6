/**
 * Hostile code in the sandbox: it must not read secrets of the machine, harm the gateway or disturb other
 * runs.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/engine/system-clock.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { CallSignal } from "../../src/kernel/signal.ts";
import type { OutCall, Outcome } from "../../src/sandbox/executor.ts";
import { tryRun } from "../../src/sandbox/try-run.ts";
import { createWasmExecutor, hostFile } from "../../src/sandbox/wasm.ts";
import { ABUSES } from "./abuse.ts";
import { ESCAPES } from "./escapes.ts";
import { runInVm } from "./vm-baseline.ts";

const SECRET = `canary-${process.pid}-${performance.now()}`;
const LIMITS = { wallMs: 700, cpuMs: 250 };
/** For code that computes until it is stopped, and does nothing else. */
const SHORT = { wallMs: 400, cpuMs: 100 };
/**
 * Bounds for the peak memory of a sandbox process with several runs, Node included. The lower bound shows
 * that the runs did allocate.
 */
const MAX_RESIDENT_KB = 600 << 10;
const MIN_RESIDENT_KB = 100 << 10;

const executor = createWasmExecutor({ clock: systemClock, log: silentLog, bubblewrap: false });
const folder = mkdtempSync(join(tmpdir(), "metamcp-canary-"));
beforeAll(() => {
  process.env["METAMCP_CANARY"] = SECRET;
  writeFileSync(join(folder, "file"), SECRET);
});
afterAll(async () => {
  await executor.close();
  delete process.env["METAMCP_CANARY"];
  rmSync(folder, { recursive: true });
});

const call = ({ tool }: OutCall): Promise<string> =>
  tool === "fail"
    ? Promise.reject(Object.assign(new Error("it failed"), { code: "execution_failed" }))
    : Promise.resolve('{"content":[],"structuredContent":{"ok":true}}');

/** The outcome contains neither the canary nor any detail of the machine. */
function expectNoLeak(outcome: Outcome): void {
  const outcomeText = JSON.stringify(outcome);
  for (const canary of [
    SECRET,
    hostFile(),
    process.cwd(),
    process.execPath,
    "node:internal",
    "wasm-function",
  ])
    expect(
      outcomeText.includes(canary) ? `found ${canary} in ${outcomeText.slice(0, 2_000)}` : "nothing",
    ).toBe("nothing");
}

async function expectSandboxWorks(): Promise<void> {
  expect(await tryRun(executor, "6 * 7")).toMatchObject({ value: "42", error: undefined });
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
}

describe("code that tries to read the environment of the gateway", () => {
  test.each(ESCAPES)("gets nothing from $name", async ({ code }) => {
    const outcome = await tryRun(executor, code, { call, limits: LIMITS });
    expectNoLeak(outcome);
    expect(outcome.value ?? "").not.toContain("canary");
  });
  test("leaves a sandbox that runs further code", expectSandboxWorks);
});

describe("the same code in node:vm, without a sandbox", () => {
  test.each(ESCAPES.filter(({ escapesVm }) => escapesVm))(
    "reads the variable through $name",
    async ({ code }) => {
      expect(await runInVm(code)).toBe(SECRET);
    },
  );
});

test("code in the sandbox cannot read files, and the sandbox process has an empty environment", async () => {
  const path = JSON.stringify(join(folder, "file"));
  const codes = [
    `(await import(${path})).default`,
    `await import('node:fs').then((fs) => fs.readFileSync(${path}, 'utf8'))`,
    `new Function('return this')().process?.kill?.(process.pid)`,
    `(() => { throw null })()`,
  ];
  for (const code of codes) expectNoLeak(await tryRun(executor, code, { call, limits: LIMITS }));
  for (const pid of executor.pids) {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    expect(environment).toBe("");
  }
  await expectSandboxWorks();
});

const HOST_FUNCTIONS = [
  "console.log",
  "tools.a.echo",
  "setTimeout",
  "(await servers.a.call('echo')).constructor",
];

describe.each(HOST_FUNCTIONS)("through the constructor of %s", (via) => {
  const withHost = (body: string, argument: unknown): string =>
    `${via}.constructor("it", ${JSON.stringify(body)})(${JSON.stringify(argument)})`;

  test("code reads no file in the sandbox, but does in node:vm", async () => {
    const read = "return process.getBuiltinModule('node:fs').readFileSync(it, 'utf8')";
    const code = withHost(read, join(folder, "file"));
    expectNoLeak(await tryRun(executor, code, { call, limits: LIMITS }));
    expect(await runInVm(code)).toBe(SECRET);
  });

  test("code ends no process in the sandbox, but does in node:vm", async () => {
    const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    const ended = once(bystander, "exit");
    const code = (signal: string): string => withHost(`return process.kill(it, "${signal}")`, bystander.pid);
    const { error } = await tryRun(executor, code("SIGKILL"), { call, limits: LIMITS });
    expect(error?.code).toBe("execution_failed");
    await runInVm(code("SIGTERM"));
    expect(await ended).toEqual([null, "SIGTERM"]);
  });
});

/** Peak resident memory in KB; 0 if the process has ended. */
function peakMemoryOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

describe("abusive code", () => {
  test.each(ABUSES)("does not reach $target with $name", async ({ target, code }) => {
    const limits = target === "another run's time" ? SHORT : LIMITS;
    const attack = tryRun(executor, code, { call, limits, principal: "attacker" });
    const neighbour = tryRun(executor, "(await tools.a.echo({})).ok", { call, principal: "neighbour" });
    const neighbourOutcome = await neighbour;
    expect(neighbourOutcome.error).toBeUndefined();
    expect(neighbourOutcome.value).toBe("true");
    const outcome = await attack;
    expectNoLeak(outcome);
    if (outcome.error) expect(["sandbox_limit", "execution_failed"]).toContain(outcome.error.code);
    expect(outcome.calls.length).toBeLessThanOrEqual(100);
    expect(Buffer.byteLength(JSON.stringify(outcome.logs))).toBeLessThan(200_000);
    expect(outcome.calls.some(({ tool }) => tool === "forged")).toBe(false);
    await expectSandboxWorks();
  });

  test.runIf(process.platform === "linux")(
    "keeps the memory of a sandbox process within its bound when six runs exhaust theirs",
    async () => {
      const memoryAttacks = ABUSES.filter(({ target }) => target === "the machine's memory").slice(0, 6);
      const peaks: number[] = [];
      // Samples during the runs too, because a process that took too much may be gone at the end.
      const sample = (): void => void peaks.push(...executor.pids.map(peakMemoryOf));
      const timer = setInterval(sample, 5);
      await Promise.all(memoryAttacks.map(({ code }) => tryRun(executor, code, { call, limits: LIMITS })));
      clearInterval(timer);
      sample();
      // The runs must have allocated something, or the upper bound would prove nothing.
      expect(Math.max(...peaks)).toBeGreaterThan(MIN_RESIDENT_KB);
      expect(Math.max(...peaks)).toBeLessThan(MAX_RESIDENT_KB);
    },
  );
});

test("a run is answered while another run computes without end", async () => {
  const [limits, signal] = [{ wallMs: 600_000, cpuMs: 600_000 }, new CallSignal()];
  let spins = true;
  let spin: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    const begun = (made: OutCall): Promise<string> => {
      resolve();
      return call(made);
    };
    const code = "await tools.a.echo({}); for (;;);";
    spin = tryRun(executor, code, { call: begun, limits, signal, principal: "attacker" }).then(() => {
      spins = false;
    });
  });
  const { error } = await tryRun(executor, "await tools.a.echo({})", { call, principal: "neighbour" });
  expect({ error, spins }).toEqual({ error: undefined, spins: true });
  signal.abort(new Error("seen"));
  await spin;
});
