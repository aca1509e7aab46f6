// What the sums of calls cost: the request of the overview with many calls in its range, and counting one call.
import { Load } from "../overhead/http/load.mjs";
import { measure as inTurn } from "../overhead/http/rounds.mjs";
import { median } from "../overhead/median.mjs";
import {
  callersOf,
  callOf,
  counting,
  filledStore,
  HOUR_MS,
  invented,
  sumsCode,
  TOOLS_USED,
} from "./call-store.mjs";
import { endpointWith, GUARDED } from "./calls.mjs";
import { row } from "./row.mjs";
import { startGateway } from "./serve.mjs";
import { cpu } from "./source.mjs";

const TEAM = invented();
/** How often so many pairs of caller and tool are written, see `call-sums.ts`. */
const WRITE_S = 15;

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
  const { sums, groupOf, close } = await counting(parts, TEAM);
  const callers = callersOf(TEAM);
  const now = Date.now();
  // The group of a call and its bucket are found for other counters too. Few, because the row of a call was just made.
  const all = Array.from({ length: TEAM.people.length * TOOLS_USED }, (_, n) => {
    const call = callOf(callers, n, now, 0);
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
  const parts = await sumsCode();
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
    const what = `CPU of GET /usage?range=${range}: ${TEAM.servers.length} servers, ${calls.toLocaleString("en")} calls in it`;
    rows.push(row(what, await requestCost(store, range, { rounds }), { limit: 100, unit: " ms", digits: 0 }));
  }
  const call = await callCost(bench);
  // At full load the gateway has a processor for itself. The rate that the load reached depends on the machine.
  const perWrite = Math.round((WRITE_S * 1e6) / call);
  const { counted, written } = await countingCost(parts, of(perWrite, 1_000));
  const each = counted + (1_000 * written) / perWrite;
  const pairs = (TEAM.people.length * TOOLS_USED).toLocaleString("en");
  const note = `counting ${counted.toFixed(2)} µs of ${call.toFixed(0)}, and ${written.toFixed(0)} ms each ${WRITE_S} s for ${pairs} pairs of caller and tool (${(written / WRITE_S / 10).toFixed(2)} % of a processor)`;
  const what = "sums of calls at full load ÷ CPU of a call with policy, rate-limit and audit";
  rows.push(row(what, (100 * each) / call, { limit: 2, unit: " %", digits: 1, note }));
  return rows;
}
