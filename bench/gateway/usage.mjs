// What the sums of calls cost: the request of the overview with many calls in its range, and counting one call.
import { randomUUID } from "node:crypto";
import { Load } from "../overhead/http/load.mjs";
import { measure as inTurn } from "../overhead/http/rounds.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { median } from "../overhead/median.mjs";
import { endpointWith, GUARDED } from "./calls.mjs";
import { row } from "./row.mjs";
import { ENV, startGateway } from "./serve.mjs";
import { cpu, load } from "./source.mjs";

const SERVERS = 60;
const TOOLS = 4;
const PEOPLE = 100;
/** Tools that one person uses. */
const USED = 8;
const CLIENTS = ["claude-code", "cursor-vscode", "langgraph", "support-bot"];
const HOUR_MS = 3_600_000;
const BATCH = 5_000;
/** How often so many pairs of caller and tool are written, see `call-sums.ts`. */
const WRITE_S = 15;

const code = () =>
  load(
    "store/open-store.ts",
    "engine/system-clock.ts",
    "kernel/log.ts",
    "observe/sums/call-sums.ts",
    "observe/call-groups.ts",
    "observe/live/durations.ts",
  );

/** Each person uses a few tools of a few servers, with one key and one client. */
function callers() {
  const servers = Array.from({ length: SERVERS }, (_, n) => ({ uuid: randomUUID(), name: `s${n}` }));
  const endpoint = { uuid: randomUUID(), name: "e" };
  return Array.from({ length: PEOPLE }, (_, n) => {
    const principal = {
      kind: "account",
      id: randomUUID(),
      name: `person${n}@example.com`,
      key: { id: randomUUID(), name: `key ${n}` },
    };
    const client = { name: CLIENTS[n % CLIENTS.length] };
    const tools = Array.from({ length: USED }, (_, at) => ({
      server: servers[(n * 7 + at * 11) % SERVERS],
      tool: `tool${at % TOOLS}`,
    }));
    return { principal, client, endpoint, tools };
  });
}

/** A finished call of one of them, at some time of the last `ms`. */
function callOf(people, n, now, ms) {
  const { tools, ...who } = people[(n * 31) % people.length];
  return {
    ...who,
    // Not in step with the people, so that every person uses all of their tools.
    ...tools[(n * 17 + Math.floor(n / people.length)) % tools.length],
    at: now - Math.floor(((n * 7_919) % 100_003) * (ms / 100_003)),
    outcome: n % 12 === 0 ? "error" : n % 40 === 0 ? "refused" : "ok",
    // A tool takes about as long each time.
    durationMs: (5 + ((n * 17) % USED) * 60) * (1 + (n % 10) / 20),
    requestBytes: 80,
    resultBytes: 900,
  };
}

/** A new store, and what counts into it. */
async function counting({ openStore, CallSums, CallGroups, silentLog: log, systemClock: clock }) {
  const home = fresh("store");
  const url = `file:${home}/gateway.db`;
  const store = await openStore({ url, home, env: ENV, clock, log });
  const namespace = { uuid: randomUUID(), name: "n" };
  const sums = new CallSums({ sums: store.sums, clock, log, namespaceOf: () => namespace });
  const groups = new CallGroups({ hasTool: () => true });
  const close = async () => {
    await sums.close();
    await store.close();
  };
  return { url, sums, groupOf: (call) => groups.of(call), close };
}

/** Writes the sums before the gateway starts. */
async function filledStore(parts, { calls, ms }) {
  const { url, sums, groupOf, close } = await counting(parts);
  const people = callers();
  const now = Date.now();
  // In the order of time, as calls come.
  const all = Array.from({ length: calls }, (_, n) => callOf(people, n, now, ms)).sort((a, b) => a.at - b.at);
  for (let n = 0; n < calls; n += BATCH) {
    for (const call of all.slice(n, n + BATCH)) sums.add(groupOf(call), call);
    await sums.flush();
  }
  await close();
  return url;
}

/** Processor time of the gateway for one request, ms. */
async function requestCost(store, range, { rounds }) {
  const server = await startGateway(`usage ${range}`, { store });
  const costs = [];
  for (let n = 0; n < rounds + 2; n++) {
    const before = server.cpu();
    const { totals } = await server.api("GET", `/usage?range=${range}`);
    if (totals.calls === 0) throw new Error("no calls in the range");
    if (n > 1) costs.push((server.cpu() - before) / 1_000);
  }
  await server.stop();
  return median(costs);
}

/** Processor time of counting one call, µs, and of writing the sums of all callers, ms. */
async function countingCost(parts, calls) {
  const { sums, groupOf, close } = await counting(parts);
  const people = callers();
  const now = Date.now();
  // The group of a call and its bucket are found for other counters too. Few, because the row of a call was just made.
  const all = Array.from({ length: PEOPLE * USED }, (_, n) => {
    const call = callOf(people, n, now, 0);
    return { call, group: groupOf(call), took: parts.bucketOf(call.durationMs) };
  });
  const [counted, written] = [[], []];
  for (let round = 0; round < 12; round++) {
    const before = cpu();
    for (let n = 0; n < calls; n++) {
      const { call, group, took } = all[n % all.length];
      sums.add(group, call, took);
    }
    const between = cpu();
    await sums.flush();
    counted.push((between - before) / calls);
    written.push((cpu() - between) / 1_000);
  }
  await close();
  // The first rounds compile the code and name the groups.
  return { counted: median(counted.slice(4)), written: median(written.slice(4)) };
}

async function callCost({ of }) {
  const { server, url, headers } = await endpointWith("calls", GUARDED);
  const params = { name: "mcp_call", arguments: { server: "s0", tool: "echo", args: { message: "ok" } } };
  const figures = await inTurn([{ name: "calls", server, load: new Load(url, [{ params, headers }]) }], {
    requests: of(4_000, 64),
    inFlight: 32,
    rounds: of(7, 1),
  });
  await server.stop();
  return median(figures.get("calls").cpu);
}

export async function measure(bench) {
  const { of } = bench;
  const parts = await code();
  const calls = of(100_000, 500);
  const rounds = of(15, 1);
  const hour = await filledStore(parts, { calls, ms: HOUR_MS * 0.95 });
  const week = await filledStore(parts, { calls, ms: 24 * 6.9 * HOUR_MS });
  const rows = [];
  for (const [store, range] of [
    [hour, "1h"],
    [hour, "24h"],
    [week, "7d"],
    [week, "30d"],
  ]) {
    const what = `CPU of GET /usage?range=${range}: ${SERVERS} servers, ${calls.toLocaleString("en")} calls in it`;
    rows.push(row(what, await requestCost(store, range, { rounds }), { limit: 100, unit: " ms", digits: 0 }));
  }
  const call = await callCost(bench);
  // At full load the gateway has a processor for itself. The rate that the load reached depends on the machine.
  const perWrite = Math.round((WRITE_S * 1e6) / call);
  const { counted, written } = await countingCost(parts, of(perWrite, 1_000));
  const each = counted + (1_000 * written) / perWrite;
  const pairs = (PEOPLE * USED).toLocaleString("en");
  const note = `counting ${counted.toFixed(2)} µs of ${call.toFixed(0)}, and ${written.toFixed(0)} ms each ${WRITE_S} s for ${pairs} pairs of caller and tool (${(written / WRITE_S / 10).toFixed(2)} % of a processor)`;
  const what = "sums of calls at full load ÷ CPU of a call with policy, rate-limit and audit";
  rows.push(row(what, (100 * each) / call, { limit: 2, unit: " %", digits: 1, note }));
  return rows;
}
