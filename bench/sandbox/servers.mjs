// Measures what the sandbox of a local server costs, when it starts and in a call, compared with the same
// server without one. All kinds take turns, so that what else the machine does concerns them alike.
// npm run bench:confined [-- STARTS]
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadParts } from "./code.mjs";

const starts = Number(process.argv[2] ?? 25);
const CALLS = 50;
const SERVER = fileURLToPath(new URL("../../test/fixture/child.mjs", import.meta.url));
const OPEN = { read: [], write: [], network: "all" };
const KINDS = {
  "no sandbox": undefined,
  "the whole network": OPEN,
  "no network": { ...OPEN, network: "none" },
  "a list of hosts": { ...OPEN, network: ["api.example.com"] },
};

const { createStdioConnector, COMMON_STDIO, silentLog, systemClock, toRaw } = await loadParts([
  ["src/child/stdio/connector.ts", "createStdioConnector"],
  ["test/support/spec.ts", "COMMON_STDIO"],
  ["src/kernel/log.ts", "silentLog"],
  ["src/engine/system-clock.ts", "systemClock"],
  ["src/kernel/raw.ts", "toRaw"],
]);
const home = mkdtempSync(join(tmpdir(), "metamcp-bench-"));
mkdirSync(join(home, "work"));
const connector = createStdioConnector({
  log: silentLog,
  clock: systemClock,
  maxMessageBytes: 1 << 20,
  home,
});
const signal = new AbortController().signal;
const ABOUT = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};

/** How long the start took, the processor time of its processes, and how long each call took. */
async function measured(name, sandbox) {
  const spec = {
    kind: "stdio",
    ...COMMON_STDIO,
    name,
    command: process.execPath,
    args: [SERVER],
    env: {},
    inheritEnv: [],
    cwd: join(home, "work"),
    sandbox,
  };
  let arrived;
  const events = {
    onMessage: (message) => message.kind === "result" && arrived.resolve(),
    onFailed: (_, failure) => arrived.reject(failure),
    onClosed: (failure) => arrived.reject(failure),
  };
  const ask = async (link, id, method, params) => {
    arrived = Promise.withResolvers?.() ?? withResolvers();
    link.send({ kind: "request", id: toRaw(id), method, params: toRaw(params) });
    await arrived.promise;
  };
  const began = performance.now();
  const link = await connector.open(spec, events, signal);
  await ask(link, 1, "initialize", ABOUT);
  const start = performance.now() - began;
  const used = processorTime(link.pid);
  const calls = [];
  for (let i = 0; i < CALLS; i++) {
    const sent = performance.now();
    await ask(link, i + 2, "tools/call", { name: "echo", arguments: { message: "x" } });
    calls.push(performance.now() - sent);
  }
  await link.close();
  return { start, calls, used };
}

/**
 * Of a process and those that it started, in ms, since their start. A tick is 10 ms, so only sums of many
 * starts mean something.
 */
function processorTime(pid) {
  const of = (name) => readFileSync(`/proc/${pid}/${name}`, "utf8");
  const fields = of("stat")
    .replace(/^.*\) /, "")
    .split(" ");
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  const started = of(`task/${pid}/children`).trim().split(" ").filter(Boolean);
  return started.reduce((sum, child) => sum + processorTime(child), own);
}

function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

const taken = new Map(Object.keys(KINDS).map((kind) => [kind, { start: [], calls: [], used: 0 }]));
try {
  for (let turn = -1; turn < starts; turn++)
    for (const [kind, sandbox] of Object.entries(KINDS)) {
      const { start, calls, used } = await measured(kind.replaceAll(" ", "-"), sandbox);
      // The first turn loads code and makes folders.
      if (turn < 0) continue;
      const sums = taken.get(kind);
      sums.start.push(start);
      sums.calls.push(...calls);
      sums.used += used;
    }
} finally {
  rmSync(home, { recursive: true, force: true });
}

const at = (times, share) => times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)];
const { start: plain } = taken.get("no sandbox");
console.log(
  `${starts} starts each, in turns; ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${process.version}\n`,
);
console.log(
  "| sandbox | start, least | median | more than without, median of the pairs | processor time | call, median |",
);
console.log("|---|---|---|---|---|---|");
for (const [kind, { start, calls, used }] of taken) {
  const more = start.map((ms, turn) => ms - plain[turn]);
  const cells = [at(start, 0), at(start, 0.5), at(more, 0.5), used / starts].map(
    (ms) => `${ms.toFixed(0)} ms`,
  );
  console.log(`| ${kind} | ${cells.join(" | ")} | ${at(calls, 0.5).toFixed(2)} ms |`);
}
