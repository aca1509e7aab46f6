import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readlinkSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { withLock } from "./lock.ts";

/**
 * Adds 1 to a counter `times` times. With `hold` it takes the lock and keeps it. With the pid of a dead
 * process it leaves each lock behind as if that process had died with it. It exits with code 7 if two holders
 * overlap.
 */
const WORKER = `
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readIfThere, writeAtomic } from "./file.ts";
import { withLock } from "./lock.ts";
const [path, times, deadPid] = process.argv.slice(2);
const abandon = (i) => {
  const holder = { ...JSON.parse(readFileSync(path + ".lock")), pid: Number(deadPid), token: process.pid + "-" + i };
  writeFileSync(path + "." + process.pid, JSON.stringify(holder));
  renameSync(path + "." + process.pid, path + ".lock");
};
if (times === "hold") {
  await withLock(path, async () => { process.stdout.write("held"); await new Promise((go) => setTimeout(go, 600_000)); });
}
for (let i = 0; i < Number(times); i++) {
  await withLock(path, async () => {
    try { closeSync(openSync(path + ".inside", "wx")); } catch { process.exit(7); }
    const { count } = JSON.parse((await readIfThere(path)) ?? '{"count":0}');
    await writeAtomic(path, JSON.stringify({ count: count + 1, filler: "x".repeat(50_000) }), { durable: false });
    rmSync(path + ".inside");
    if (deadPid) abandon(i);
  }, { timeoutMs: 60_000 });
}
`;

let script: string;
let folder: string;
let path: string;
const processes = new Set<ChildProcess>();

beforeAll(async () => {
  const built = await mkdtemp(join(tmpdir(), "metamcp-worker-"));
  script = join(built, "worker.mjs");
  const here = dirname(fileURLToPath(import.meta.url));
  const source = {
    name: "source",
    resolveId: (id: string) => (id === "worker" ? join(here, "worker.mts") : null),
    load: (id: string) => (id === join(here, "worker.mts") ? WORKER : null),
  };
  await build({
    input: "worker",
    platform: "node",
    plugins: [source],
    output: { file: script, format: "esm" },
    logLevel: "silent",
  });
});
afterAll(async () => {
  await rm(dirname(script), { recursive: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "metamcp-lock-"));
  path = join(folder, "x.json");
});
afterEach(async () => {
  for (const child of processes) child.kill("SIGKILL");
  processes.clear();
  await rm(folder, { recursive: true });
});

function start(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [script, path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  processes.add(child);
  return child;
}

const ended = async (child: ChildProcess): Promise<unknown> => {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
};

test("concurrent processes lose no update of a file, and a reader never sees a partial write", async () => {
  const workers = ["40", "40", "40"].map((times) => start(times));
  let running = true;
  const reader = (async () => {
    while (running) {
      const text = await readFile(path, "utf8").catch(() => '{"count":0}');
      expect(typeof (JSON.parse(text) as { count: number }).count).toBe("number");
    }
  })();
  const codes = await Promise.all(workers.map(ended));
  running = false;
  await reader;

  expect(codes).toEqual([0, 0, 0]);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ count: 120 });
  expect(await readdir(folder)).toEqual(["x.json"]);
});

test("callers in one process exclude each other too", async () => {
  let inside = 0;
  let count = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withLock(path, async () => {
        expect(++inside).toBe(1);
        const before = count;
        await new Promise((go) => setImmediate(go));
        count = before + 1;
        inside--;
      }),
    ),
  );
  expect(count).toBe(20);
});

test("the lock of a killed process is free at once, and processes that compete for it still exclude each other", async () => {
  const holder = start("hold");
  await once(holder.stdout ?? holder, "data");
  const workers = ["10", "10", "10"].map((times) => start(times));
  holder.kill("SIGKILL");
  expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ count: 30 });
  expect(await readdir(folder)).toEqual(["x.json"]);
});

test("exactly one of the processes that see the same dead holder gets the lock, repeatedly", {
  timeout: 120_000,
}, async () => {
  const dead = start("0");
  await ended(dead);
  const workers = [1, 2, 3, 4].map(() => start("150", String(dead.pid)));
  expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0, 0]);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ count: 600 });
});

test("waiting for a lock of a living process times out with an error that names the process", async () => {
  const holder = start("hold");
  await once(holder.stdout ?? holder, "data");
  await expect(withLock(path, async () => 1, { timeoutMs: 100 })).rejects.toThrow(
    new RegExp(`locked by process ${holder.pid} on .* for over 100 ms.*delete the file`),
  );
  expect(existsSync(`${path}.lock`)).toBe(true);
});

const host = `${hostname()}${process.platform === "linux" ? ` ${readlinkSync("/proc/self/ns/pid")}` : ""}`;
const lock = (holder: object): string =>
  JSON.stringify({ pid: process.pid, start: undefined, host, token: "t", ...holder });

test.runIf(process.platform === "linux")("a zombie process does not hold its lock", async () => {
  // The shell starts a process that ends, then replaces itself with one that never waits for it.
  const parent = spawn("sh", ["-c", "sleep 0.5 & echo $!; exec sleep 600"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  processes.add(parent);
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  const state = async (): Promise<string> =>
    (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/.*\) /, "");
  await expect.poll(state, { timeout: 15_000 }).toMatch(/^Z/);
  await writeFile(`${path}.lock`, lock({ pid }));
  expect(await withLock(path, async () => "in", { timeoutMs: 1_000 })).toBe("in");
});

test.runIf(process.platform === "linux")("a lock is free if its pid belongs to a later process", async () => {
  await writeFile(`${path}.lock`, lock({ start: "1" }));
  expect(await withLock(path, async () => "in")).toBe("in");
});

test("a claim left by a process that died while removing a stale lock is removed too", async () => {
  const dead = start("0");
  await ended(dead);
  await writeFile(`${path}.lock`, lock({ pid: dead.pid, token: "a" }));
  await writeFile(`${path}.lock.a`, lock({ pid: dead.pid, token: "b" }));
  expect(await withLock(path, async () => "in")).toBe("in");
  expect(await readdir(folder)).toEqual([]);
});

test.each([
  ["a recent incomplete lock file holds", "", 1_000, false],
  ["an old incomplete lock file does not hold", '{"pid":', 60_000, true],
  ["a recent lock of another host holds", lock({ host: "elsewhere" }), 60_000, false],
  ["an old lock of another host does not hold", lock({ host: "elsewhere" }), 3_600_000, true],
])("%s", async (_title, text, ageMs, free) => {
  await writeFile(`${path}.lock`, text);
  const then = new Date(Date.now() - ageMs);
  await utimes(`${path}.lock`, then, then);
  const attempt = withLock(path, async () => "in", { timeoutMs: 50 });
  if (free) expect(await attempt).toBe("in");
  else await expect(attempt).rejects.toThrow(/locked by/);
});

test("the lock is released when the locked function fails", async () => {
  await expect(withLock(path, () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
  expect(await readdir(folder)).toEqual([]);
});
