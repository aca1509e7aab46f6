// Counts the SQL statements of gateways: for requests of clients, for audit records at full load, and when
// idle.
import { setTimeout as pause } from "node:timers/promises";
import { Load } from "../overhead/http/load.mjs";
import { everythingOn, GUARDED } from "./calls.mjs";
import { countingPostgres } from "./postgres.mjs";
import { leftOut, row } from "./row.mjs";
import { allOf, fixtures, startGateway } from "./serve.mjs";

/** Statements that timers cause. Their number does not depend on the number of requests. */
const BY_TIMER = [
  ["audit", /metamcp_audit/],
  ["poll", /max\(n\).*metamcp_revisions/s],
  ["beat of a replica", /metamcp_replicas/],
  // With several replicas, for what lasts 100 ms.
  ["block of a rate limit", /metamcp_rates/],
  // Every 5 s while there are calls.
  ["sums of calls", /metamcp_sum/],
  ["last use of keys", /^(UPDATE|INSERT|SELECT|WITH|DELETE).*metamcp_record/s],
  // What stands around them. A transaction for a request has other statements too.
  ["frame of a transaction", /^(BEGIN|COMMIT|SELECT pg_|SELECT value FROM metamcp_meta)/],
];

export function countByKind(statements) {
  const counts = Object.assign(Object.fromEntries(BY_TIMER.map(([kind]) => [kind, 0])), { others: [] });
  for (const text of statements) {
    const [kind] = BY_TIMER.find(([, pattern]) => pattern.test(text)) ?? [];
    if (kind) counts[kind]++;
    else counts.others.push(text);
  }
  return counts;
}

const seconds = (since) => (performance.now() - since) / 1_000;

/** Sends calls and lists in turn for some seconds. */
async function underLoad({ of }, { store, statements }) {
  const target = await everythingOn("statements", store);
  const { server, url, headers } = target;
  const call = { name: "mcp_call", arguments: { server: "s0", tool: "echo", args: { message: "ok" } } };
  const load = new Load(url, [
    { params: call, headers },
    { method: "tools/list", params: {}, headers },
    { params: call, headers },
    { method: "resources/list", params: {}, headers },
  ]);
  await load.calls(of(2_000, 32), 32);
  await pause(of(2_000, 500));
  const from = statements.length;
  const since = performance.now();
  let requests = 0;
  while (seconds(since) < of(8, 0.5)) {
    await load.calls(of(1_000, 64), 32);
    requests += of(1_000, 64);
  }
  const counts = countByKind(statements.slice(from));
  const lasted = seconds(since);
  load.close();
  target.close();
  await server.stop();
  return { counts, requests, lasted };
}

/** Two idle gateways on one store. */
async function whenIdle({ of }, { store, statements }) {
  const servers = fixtures(1);
  const document = {
    servers,
    namespaces: { n: allOf(servers) },
    endpoints: { e: { namespaces: ["n"], middleware: GUARDED } },
  };
  const both = [await startGateway("one", { store, document }), await startGateway("other", { store })];
  await pause(of(2_000, 500));
  const from = statements.length;
  const since = performance.now();
  await pause(of(10_000, 1_000));
  const found = statements.slice(from);
  const lasted = seconds(since);
  for (const server of both) await server.stop();
  return { found, lasted };
}

export async function measure(bench) {
  if (!bench.postgres.there) return [leftOut("statements at the store", bench.postgres.why)];
  const one = await countingPostgres();
  const { counts, requests, lasted } = await underLoad(bench, one);
  await one.drop();
  const two = await countingPostgres();
  const idle = await whenIdle(bench, two);
  await two.drop();
  const per = (count) => count / lasted;
  const rate = `${Math.round(requests / lasted).toLocaleString("en")} requests/s`;
  const named = counts.others.map((text) => text.slice(0, 60)).join("; ");
  return [
    row("statements per request (calls and lists), everything on", counts.others.length / requests, {
      limit: 0,
      digits: 5,
      note:
        named ||
        `of ${requests.toLocaleString("en")}; those by timers: ${per(counts.poll + counts["last use of keys"]).toFixed(1)}/s`,
    }),
    row("audit: statements per second at full load", per(counts.audit), { limit: 20, digits: 1, note: rate }),
    row("two gateways on one Postgres, idle: statements per second", idle.found.length / idle.lasted, {
      digits: 1,
    }),
  ];
}
