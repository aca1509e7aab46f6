// Long load on a gateway with every layer on, while the config changes each second. Prints one table and
// asserts nothing.
// Usage: soak.mjs [--minutes 20] [--sessions 500] [--rate 200] [--postgres]
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ask, openSession } from "../overhead/http/load.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { build } from "../overhead/http/servers.mjs";
import { BUSY } from "./memory.mjs";
import { countingPostgres } from "./postgres.mjs";
import { row, table } from "./row.mjs";
import { allOf, fixtures, startGateway } from "./serve.mjs";

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    sessions: { type: "string", default: "500" },
    rate: { type: "string", default: "200" },
    postgres: { type: "boolean", default: false },
  },
});
const [minutes, sessionCount, rate] = [flags.minutes, flags.sessions, flags.rate].map(Number);
const WORKERS = 16;
const HEAP_LIMIT = 1.1;

/** The last server is switched off and on: its calls may be refused. All others must never fail. */
const servers = fixtures(6);
const UNSTEADY = Object.keys(servers).at(-1);
const layers = BUSY.map((entry) => {
  if (entry.use === "filter") return { use: "filter", allow: ["*"] };
  if (entry.use === "policy") return { use: "policy", rules: [{ effect: "allow", tools: ["*"] }] };
  return entry.use === "audit" ? { ...entry, required: true } : entry;
});
const document = {
  servers,
  namespaces: { all: allOf(servers) },
  endpoints: {
    every: { namespaces: ["all"], surface: "aggregate", middleware: layers },
    four: { namespaces: ["all"], surface: "meta", middleware: layers },
  },
};

const auditFile = fresh("audit.jsonl");
build();
const database = flags.postgres ? await countingPostgres() : undefined;
const gateway = await startGateway("soak", {
  document,
  probe: true,
  flags: ["--audit-file", auditFile, "--log-level", "error"],
  ...(database && { store: database.store }),
});

const counts = { answered: 0, refused: 0, failed: 0, changes: 0, changesFailed: 0 };
const problems = [];
const end = Date.now() + minutes * 60_000;

function argumentsOf(endpoint, server, message) {
  if (endpoint === "four")
    return { name: "mcp_call", arguments: { server, tool: "echo", args: { message } } };
  return { name: `${server}__echo`, arguments: { message } };
}

async function callOnce({ endpoint, headers }, n) {
  const server = `s${n % Object.keys(servers).length}`;
  const message = `sixteen bytes ${n} to ada@example.com`;
  const params = argumentsOf(endpoint, server, message);
  const problem = await ask(gateway.urlOf(endpoint), { id: n, method: "tools/call", params }, headers).then(
    ({ answer }) => (answer?.result && !answer.result.isError ? undefined : JSON.stringify(answer)),
    (error) => error.message,
  );
  if (problem === undefined) counts.answered++;
  else if (server === UNSTEADY) counts.refused++;
  else {
    counts.failed++;
    if (problems.length < 5) problems.push(problem.slice(0, 300));
  }
}

async function worker(sessions, first) {
  const step = (WORKERS / rate) * 1_000;
  for (let n = first; Date.now() < end; n += WORKERS) {
    const due = Date.now() + step;
    await callOnce(sessions[n % sessions.length], n);
    await pause(Math.max(0, due - Date.now()));
  }
}

/** One change of the config each second, of another kind each time. */
async function administrator() {
  const kinds = [
    (n) => gateway.api("PATCH", `/mcp-servers/${UNSTEADY}`, { disabled: n % 8 === 0 }),
    (n) => gateway.api("PATCH", "/namespaces/all", { description: `change ${n}` }),
    (n) => gateway.api("PATCH", "/endpoints/four", { maxResultBytes: 100_000 + n }),
    (n) =>
      gateway.api("PATCH", "/endpoints/every", {
        middleware: layers.map((one) => (one.use === "concurrency" ? { ...one, max: 100 + (n % 9) } : one)),
      }),
  ];
  for (let n = 0; Date.now() < end; n++) {
    const due = Date.now() + 1_000;
    counts.changes++;
    await kinds[n % kinds.length](n).catch((error) => {
      counts.changesFailed++;
      if (problems.length < 5) problems.push(error.message);
    });
    await pause(Math.max(0, due - Date.now()));
  }
}

/** Heap after garbage collection, once a minute. The first minutes fill caches and are not compared. */
async function observer() {
  const samples = [];
  while (Date.now() < end) {
    await pause(Math.min(60_000, (minutes * 60_000) / 6, Math.max(0, end - Date.now())));
    const { used, rss } = await gateway.memory();
    samples.push(used);
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    process.stderr.write(
      `${new Date().toISOString()} heap ${megabytes(used)} MB, resident ${megabytes(rss)} MB, ${counts.answered} answered, ${counts.failed} failed\n`,
    );
  }
  return samples;
}

async function recordedCalls() {
  let calls = 0;
  for await (const line of createInterface({ input: createReadStream(auditFile) })) {
    const { kind, outcome, tool } = JSON.parse(line);
    if (kind === "call" && outcome === "ok" && tool === "echo") calls++;
  }
  return calls;
}

const key = await gateway.key();
const sessions = [];
for (let n = 0; n < sessionCount; n++) {
  const endpoint = n % 2 === 0 ? "every" : "four";
  sessions.push({ endpoint, headers: await openSession(gateway.urlOf(endpoint), key) });
}
const [samples] = await Promise.all([
  observer(),
  administrator(),
  ...Array.from({ length: WORKERS }, (_, at) => worker(sessions, at)),
]);
const verified = await gateway.api("GET", "/audit/verify");
await gateway.stop();
const missing = counts.answered - (await recordedCalls());
await database?.drop();

const [early, late] = [samples[Math.floor(samples.length / 4)], samples.at(-1)];
console.log(
  table([
    row(`calls answered, ${sessionCount} sessions, ${minutes} minutes`, counts.answered, { digits: 0 }),
    row("changes of the config", counts.changes, { digits: 0, note: `${counts.changesFailed} failed` }),
    row("calls refused because their server was switched off", counts.refused, { digits: 0 }),
    row("calls failed that no change explains", counts.failed, { limit: 0, digits: 0 }),
    row("audit records missing of answered calls", missing, { limit: 0, digits: 0 }),
    row("faults in the chain of the audit log", verified.ok ? 0 : 1, { limit: 0, digits: 0 }),
    row("heap at the end ÷ after a quarter of the time", late / early, { limit: HEAP_LIMIT }),
  ]),
);
for (const problem of problems) console.log(problem);
process.exit();
