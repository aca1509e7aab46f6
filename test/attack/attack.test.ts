import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../src/kernel/log.ts";
import { CallSignal } from "../../src/kernel/signal.ts";
import type { OutCall, Outcome } from "../../src/sandbox/executor.ts";
import { tryRun } from "../../src/sandbox/try-run.ts";
import { createWasmExecutor, hostFile } from "../../src/sandbox/wasm.ts";
import { systemClock } from "../../src/system-clock.ts";
import { ABUSES } from "./abuse.ts";
import { ESCAPES } from "./escapes.ts";
import { runInVm } from "./vm-baseline.ts";

const SECRET = `canary-${process.pid}-${performance.now()}`;
const LIMITS = { wallMs: 700, cpuMs: 250 };
/** Of one host with several runs, node itself included; and of one whose runs have taken what they may. */
const MOST_RESIDENT_KB = 600 << 10;
const LEAST_RESIDENT_KB = 100 << 10;

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

/** Neither the canary nor anything that tells of the machine. */
function expectNothingFound(outcome: Outcome): void {
  const told = JSON.stringify(outcome);
  for (const canary of [
    SECRET,
    hostFile(),
    process.cwd(),
    process.execPath,
    "node:internal",
    "wasm-function",
  ])
    expect(told.includes(canary) ? `found ${canary} in ${told.slice(0, 2_000)}` : "nothing").toBe("nothing");
}

async function expectWellAfter(): Promise<void> {
  expect(await tryRun(executor, "6 * 7")).toMatchObject({ value: "42", error: undefined });
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(([] as { polluted?: unknown }).polluted).toBeUndefined();
}

describe("escapes after the variable", () => {
  test.each(ESCAPES)("$name", async ({ code }) => {
    const outcome = await tryRun(executor, code, { call, limits: LIMITS });
    expectNothingFound(outcome);
    expect(outcome.value ?? "").not.toContain("canary");
  });
  test("the next honest run works", expectWellAfter);
});

describe("escapes bite where there is no fence", () => {
  test.each(ESCAPES.filter(({ bites }) => bites))("$name", async ({ code }) => {
    expect(await runInVm(code)).toBe(SECRET);
  });
});

test("the file, and the host's own process, are out of reach", async () => {
  const path = JSON.stringify(join(folder, "file"));
  const codes = [
    `(await import(${path})).default`,
    `await import('node:fs').then((fs) => fs.readFileSync(${path}, 'utf8'))`,
    `new Function('return this')().process?.kill?.(process.pid)`,
    `(() => { throw null })()`,
  ];
  for (const code of codes) expectNothingFound(await tryRun(executor, code, { call, limits: LIMITS }));
  for (const pid of executor.pids) {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
    expect(environment).toBe("");
  }
  await expectWellAfter();
});

const WAYS = ["console.log", "tools.a.echo", "setTimeout", "(await servers.a.call('echo')).constructor"];

describe.each(WAYS)("by way of %s", (via) => {
  const withHost = (body: string, it: unknown): string =>
    `${via}.constructor("it", ${JSON.stringify(body)})(${JSON.stringify(it)})`;

  test("the file is not read; it is where there is no fence", async () => {
    const read = "return process.getBuiltinModule('node:fs').readFileSync(it, 'utf8')";
    const code = withHost(read, join(folder, "file"));
    expectNothingFound(await tryRun(executor, code, { call, limits: LIMITS }));
    expect(await runInVm(code)).toBe(SECRET);
  });

  test("a process is not ended; it is where there is no fence", async () => {
    const victim = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
    const ended = once(victim, "exit");
    const code = (signal: string): string => withHost(`return process.kill(it, "${signal}")`, victim.pid);
    const { error } = await tryRun(executor, code("SIGKILL"), { call, limits: LIMITS });
    expect(error?.code).toBe("execution_failed");
    await runInVm(code("SIGTERM"));
    expect(await ended).toEqual([null, "SIGTERM"]);
  });
});

/** In KB; 0 where it has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

describe("abuse", () => {
  test.each(ABUSES)("$name, after $after", async ({ code }) => {
    const attack = tryRun(executor, code, { call, limits: LIMITS, principal: "attacker" });
    const neighbour = tryRun(executor, "(await tools.a.echo({})).ok", { call, principal: "neighbour" });
    const met = await neighbour;
    expect(met.error).toBeUndefined();
    expect(met.value).toBe("true");
    const outcome = await attack;
    expectNothingFound(outcome);
    if (outcome.error) expect(["sandbox_limit", "execution_failed"]).toContain(outcome.error.code);
    expect(outcome.calls.length).toBeLessThanOrEqual(100);
    expect(Buffer.byteLength(JSON.stringify(outcome.logs))).toBeLessThan(200_000);
    expect(outcome.calls.some(({ tool }) => tool === "forged")).toBe(false);
    await expectWellAfter();
  });

  test.runIf(process.platform === "linux")("memory stays bounded, however many ask for more", async () => {
    const hungry = ABUSES.filter(({ after }) => after === "the memory of the machine").slice(0, 6);
    const peaks: number[] = [];
    // Meanwhile too: a host that took too much may be gone at the end.
    const look = (): void => void peaks.push(...executor.pids.map(peakOf));
    const timer = setInterval(look, 5);
    await Promise.all(hungry.map(({ code }) => tryRun(executor, code, { call, limits: LIMITS })));
    clearInterval(timer);
    look();
    // They did get some, or this would say nothing.
    expect(Math.max(...peaks)).toBeGreaterThan(LEAST_RESIDENT_KB);
    expect(Math.max(...peaks)).toBeLessThan(MOST_RESIDENT_KB);
  });
});

test("a neighbour is answered while somebody computes", async () => {
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
