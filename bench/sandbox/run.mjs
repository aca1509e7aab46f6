// Measures the sandbox, compared with node:vm (no isolation) and a plain process per run. npm run
// bench:sandbox [-- --attacks]: also measures how long each attack exceeds its limit and delays the gateway's
// event loop.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createContext, runInContext } from "node:vm";
import { load } from "./code.mjs";

const { ABUSES, CallSignal, createProcessExecutor, createWasmExecutor, LIMITS, silentLog, systemClock } =
  await load();
const RESULT = '{"content":[],"structuredContent":{"ok":true}}';
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const create = (more = {}) => createWasmExecutor({ clock: systemClock, log: silentLog, ...more });

function run(executor, code, { call = async () => RESULT, limits = {}, principal = "bench" } = {}) {
  const all = { ...LIMITS, ...limits };
  return executor.run({ code, servers: ["a"], limits: all, principal, signal: new CallSignal(), call });
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
const spread = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  return { min: sorted[0], p50: at(sorted, 0.5), p95: at(sorted, 0.95) };
};
const ms = (value) => `${value.toFixed(2)} ms`;
const row = (name, ...cells) => console.log(`${name.padEnd(52)} ${cells.join("   ")}`);
const shown = ({ min, p50, p95 }) => `min ${ms(min)}  p50 ${ms(p50)}  p95 ${ms(p95)}`;

async function timed(times, step) {
  const taken = [];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    await step(i);
    taken.push(performance.now() - began);
  }
  return spread(taken);
}

/** Memory of a process and its children. Shared pages, e.g. of the program itself, count once. */
function usedMb(pid) {
  try {
    const ownMb =
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1024;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.filter(Boolean).reduce((sum, child) => sum + usedMb(child), ownMb);
  } catch {
    // The process has just ended.
    return 0;
  }
}

// Cold.
const node = await timed(7, () => spawnSync(process.execPath, ["-e", "0"]));
row("node -e 0", shown(node));
for (const bubblewrap of [false, true]) {
  const cold = await timed(5, async () => {
    const executor = create({ bubblewrap });
    await run(executor, "1 + 1");
    await executor.close();
  });
  row(
    `cold: first run${bubblewrap ? ", bubblewrap" : ""}`,
    shown(cold),
    `${(cold.p50 / node.p50).toFixed(1)} x node -e 0`,
  );
}

// Warm.
const executor = create();
await timed(20, () => run(executor, "1 + 1"));
await wait(300);
const pause = async () => wait(5);
const warm = [];
for (let i = 0; i < 200; i++) {
  const began = performance.now();
  await run(executor, "1 + 1");
  warm.push(performance.now() - began);
  await pause();
}
row("warm run", shown(spread(warm)));
row("warm run, one after the other without a pause", shown(await timed(200, () => run(executor, "1 + 1"))));
row("warm run, TypeScript", shown(await timed(50, () => run(executor, "const n: number = 1; n"))));
row(
  "node:vm, fresh context (no fence)",
  shown(await timed(200, () => runInContext("1 + 1", createContext({})))),
);
row(
  "plain process per run (no fence)",
  shown(
    await timed(7, () => new Promise((done) => spawn(process.execPath, ["-e", "1 + 1"]).once("exit", done))),
  ),
);

/** Runs code in this process. */
const vm = {
  pids: [],
  async run({ code, call }) {
    const echo = async (args) => JSON.parse(await call(args)).structuredContent;
    const value = await runInContext(
      `(async () => {${code}\n})()`,
      createContext({ tools: { a: { echo } } }),
    );
    return { value };
  },
};
const plain = createProcessExecutor({ clock: systemClock, log: silentLog });
const ALL = [
  ["", executor],
  [", node:vm", vm],
  [", plain process", plain],
];

// Calls out of the sandbox.
const calls = 100;
const loop = `for (let i = 0; i < ${calls}; i++) await tools.a.echo({ i })`;
for (const [where, one] of ALL) {
  // The time from one call to the next, each answered at once: one round trip without the start of the run.
  const gaps = [];
  for (let i = 0; i < 20; i++) {
    let last;
    const call = async () => {
      const now = performance.now();
      if (last !== undefined) gaps.push((now - last) * 1000);
      last = now;
      return RESULT;
    };
    await run(one, loop, { call });
  }
  const { min, p50, p95 } = spread(gaps);
  const figures = `min ${min.toFixed(0)} µs  p50 ${p50.toFixed(0)} µs  p95 ${p95.toFixed(0)} µs`;
  row(`one call out, awaited${where}`, figures);
}
const parallel = `await Promise.all(Array.from({ length: ${calls} }, (_, i) => tools.a.echo({ i })))`;
for (const [where, one] of ALL)
  row(`100 calls at once${where}`, shown(await timed(20, () => run(one, parallel))));

// Many at once.
const slow = async () => {
  await wait(50);
  return RESULT;
};
const ten = "for (let i = 0; i < 10; i++) await tools.a.echo({ i }); 1";
for (const [where, one, principals] of [...ALL.map((of) => [...of, 1]), [ALL[0][0], executor, 200]]) {
  const began = performance.now();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(
      most,
      one.pids.reduce((sum, pid) => sum + usedMb(pid), 0),
    );
  }, 50);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, i) => run(one, ten, { call: slow, principal: `p${i % principals}` })),
  );
  clearInterval(watch);
  const failed = outcomes.filter(({ error }) => error).length;
  row(
    `200 runs of 10 calls at 50 ms, ${principals} principals${where}`,
    ms(performance.now() - began),
    `hosts ${one.pids.length}, ${most.toFixed(0)} MB`,
    `failed ${failed}`,
  );
}

if (process.argv.includes("--attacks")) {
  console.log("\nattack: how long past its limit, worst lag of the gateway's event loop");
  const limits = { wallMs: 1_000, cpuMs: 1_000 };
  let worst = { over: 0, lag: 0 };
  const lagDuring = async (work) => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const result = await work();
    delay.disable();
    return { result, lag: delay.max / 1e6 };
  };
  // The lag that any busy process on this machine causes.
  const control = [];
  for (let i = 0; i < ABUSES.length / 2; i++) {
    const busy = spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" });
    control.push((await lagDuring(() => wait(1_000))).lag);
    busy.kill("SIGKILL");
  }
  row(
    `  control: a plain loop in another process, ${control.length} times`,
    `lag up to ${Math.max(...control).toFixed(0)} ms`,
  );
  for (const { name, code } of ABUSES) {
    // The attack before may have ended the host. The start of a new one must not count as overrun.
    await run(executor, "1", { principal: "attacker" });
    const began = performance.now();
    const { result, lag } = await lagDuring(() => run(executor, code, { limits, principal: "attacker" }));
    const { error } = result;
    const over = Math.max(0, performance.now() - began - 1_000);
    worst = { over: Math.max(worst.over, over), lag: Math.max(worst.lag, lag) };
    row(
      `  ${name}`,
      `+${over.toFixed(0)} ms`,
      `lag ${lag.toFixed(0)} ms`,
      error?.limit ?? error?.code ?? "ended by itself",
    );
  }
  row("worst", `+${worst.over.toFixed(0)} ms (goal 1200)`, `lag ${worst.lag.toFixed(0)} ms (goal 20)`);
}
await executor.close();
await plain.close();
