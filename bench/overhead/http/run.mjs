// Measures MetaMCP over HTTP, compared with a bare node:http forwarder and the npm peers. Prints figures and
// asserts nothing.
// Usage: run.mjs [--peers] [--dist FOLDER]… [--quick] [--only calls|memory|growth]
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { median } from "../median.mjs";
import { ask, Load, openSession } from "./load.mjs";
import { measure, ratio } from "./rounds.mjs";
import { bare, build, era2026, metamcp, peers } from "./servers.mjs";

const { values: flags } = parseArgs({
  options: {
    peers: { type: "boolean", default: false },
    dist: { type: "string", multiple: true, default: [] },
    quick: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
const scale = flags.quick ? 0.25 : 1;
const problems = [];
const isSelected = (part) => flags.only === undefined || flags.only === part;
const log = (text) => process.stderr.write(`${text}\n`);

async function startAll(targets) {
  const running = [];
  for (const target of targets) {
    try {
      running.push({ target, server: await target.start() });
    } catch (error) {
      problems.push(error.message);
    }
  }
  return running;
}

async function loadsOf(running, tool, args) {
  const loads = [];
  for (const { target, server } of running) {
    const params = target.call(0, tool, args);
    const headers = target.headers ?? server.session;
    const { answer } = await ask(server.url, { id: 2, method: "tools/call", params }, headers);
    if (!answer?.result || answer.result.isError) problems.push(`${target.name}: ${JSON.stringify(answer)}`);
    else loads.push({ name: target.name, server, load: new Load(server.url, [{ params, headers }]) });
  }
  return loads;
}

/** Median, minimum and maximum. */
function spread(samples) {
  const round = (value) => value.toFixed(value < 10 ? 1 : 0);
  return `${round(median(samples))} (${round(Math.min(...samples))}–${round(Math.max(...samples))})`;
}

function print(title, figures) {
  console.log(`\n${title}\n\n| who | CPU µs per call | × bare | calls/s |\n|---|---|---|---|`);
  for (const [name, { cpu, rate }] of figures) {
    const times = ratio(figures, name, bare.name)?.toFixed(2) ?? "–";
    console.log(`| ${name} | ${spread(cpu)} | ${times} | ${Math.round(median(rate))} |`);
  }
}

async function calls() {
  const targets = [
    bare,
    metamcp("metamcp"),
    metamcp("metamcp --json-response", { flags: ["--json-response"] }),
    metamcp("metamcp --stateless", { flags: ["--stateless"] }),
    era2026("metamcp, 2026-07-28"),
    ...flags.dist.map((dist) => metamcp(`metamcp in ${dist}`, { dist: resolve(dist) })),
    ...(flags.peers ? peers((text) => problems.push(text)) : []),
  ];
  const running = await startAll(targets);
  const small = ["echo", { message: "sixteen bytes ok" }];
  const big = ["big", { bytes: 1_048_576 }];
  for (const [title, [tool, args], inFlight, count] of [
    ["16 B results, 32 in flight (budget: ≤ 150 µs, aim at 90, ≤ 2 × bare)", small, 32, 8_000],
    ["16 B results, 1 in flight", small, 1, 2_000],
    ["1 MB results, 32 in flight", big, 32, 200],
    ["1 MB results, 1 in flight", big, 1, 100],
  ]) {
    log(title);
    const requests = Math.ceil(count * scale);
    print(title, await measure(await loadsOf(running, tool, args), { requests, inFlight }));
  }
  await Promise.all(running.map(({ server }) => server.stop()));
}

/** Memory per session, without and with an open stream. */
async function memory(count = 1_000) {
  log("memory");
  const server = await metamcp("metamcp", { probe: true }).start();
  for (let i = 0; i < 50; i++) await openSession(server.url);
  const before = await server.memory();
  const sessions = [];
  for (let i = 0; i < count; i++) sessions.push(await openSession(server.url));
  const idle = await server.memory();
  const abort = new AbortController();
  for (const headers of sessions)
    await fetch(server.url, { headers: { ...headers, accept: "text/event-stream" }, signal: abort.signal });
  const listening = await server.memory();
  abort.abort();
  const row = (what, budget, { used, rss }) =>
    console.log(
      `| ${what} | ${budget} | ${((used - before.used) / count / 1024).toFixed(1)} KB | ${((rss - before.rss) / count / 1024).toFixed(1)} KB |`,
    );
  console.log(
    `\nper session, of ${count}\n\n| session | budget | in use after a collection | resident |\n|---|---|---|---|`,
  );
  row("idle", "≤ 10 KB", idle);
  row("with an open stream", "≤ 25 KB", listening);
  await server.stop();
}

/** CPU per call at 32 in flight with a growing number of sessions, used in turn, and of children. */
async function growth() {
  log("growth");
  console.log(
    "\n16 B results, 32 in flight, sessions and children in turn\n\n| sessions | children | CPU µs per call |\n|---|---|---|",
  );
  for (const [sessions, children] of [
    [1, 1],
    [100, 1],
    [1_000, 1],
    [1, 10],
    [100, 10],
  ]) {
    const target = metamcp("metamcp", { children });
    const server = await target.start();
    const headers = [];
    for (let i = 0; i < sessions; i++) headers.push(await openSession(server.url));
    const loads = [];
    for (let i = 0; i < children; i++) {
      const params = target.call(i, "echo", { message: "sixteen bytes ok" });
      await ask(server.url, { id: 2, method: "tools/call", params }, headers[0]);
      loads.push({
        name: i,
        server,
        load: new Load(
          server.url,
          headers.map((one) => ({ params, headers: one })),
        ),
      });
    }
    const count = Math.ceil((8_000 * scale) / children);
    for (const { load } of loads) await load.calls(count, 32);
    const samples = [];
    for (let round = 0; round < 3; round++) {
      const before = server.cpu();
      await Promise.all(loads.map(({ load }) => load.calls(count, Math.ceil(32 / children))));
      samples.push((server.cpu() - before) / (count * children));
    }
    console.log(`| ${sessions} | ${children} | ${spread(samples)} |`);
    for (const { load } of loads) load.close();
    await server.stop();
  }
}

console.log(
  `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}, load ${loadavg()[0].toFixed(1)}${flags.quick ? "; quick, so rough" : ""}`,
);
build();
if (isSelected("calls")) await calls();
if (isSelected("memory")) await memory();
if (isSelected("growth")) await growth();
for (const text of problems) console.log(`\nleft out: ${text}`);
