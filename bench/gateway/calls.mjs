// CPU per call over HTTP with 32 in flight: endpoints with more and more layers, compared with the bare front
// and the personal HTTP mode.
import { createServer } from "node:http";
import { basename } from "node:path";
import { ask, Load } from "../overhead/http/load.mjs";
import { measure as inTurn, ratio } from "../overhead/http/rounds.mjs";
import { bare, metamcp, peers } from "../overhead/http/servers.mjs";
import { median } from "../overhead/median.mjs";
import { countingPostgres } from "./postgres.mjs";
import { leftOut, row } from "./row.mjs";
import { allOf, fixtures, startGateway } from "./serve.mjs";

const PERSONAL = "personal HTTP mode";
const SMALL = { message: "sixteen bytes ok" };

const POLICY = {
  use: "policy",
  default: "allow",
  rules: [{ effect: "deny", tools: ["*:crash"], who: { groups: ["guests"] } }],
};
const RATE = { use: "rate-limit", requests: 1_000_000, per: "1s" };
const AUDIT = { use: "audit", arguments: "names", results: "names" };
/** The layers of the budget. Metrics are always on. */
export const GUARDED = [POLICY, RATE, AUDIT];
const EIGHT = [
  { use: "filter", deny: ["*:crash"] },
  POLICY,
  RATE,
  { use: "concurrency", max: 1_000 },
  AUDIT,
  { use: "timeout", deadlineMs: "60s" },
  { use: "flow", deny: [{ from: "*:crash", to: "*:env" }] },
  { use: "ask", tools: ["*:crash"] },
];

/** Starts a gateway with an endpoint `e` with these layers, and opens a session with a key. */
export async function endpointWith(name, middleware, options) {
  const servers = fixtures(1);
  const document = {
    servers,
    namespaces: { n: allOf(servers) },
    endpoints: { e: { namespaces: ["n"], middleware } },
  };
  const server = await startGateway(name, { document, ...options });
  const headers = await server.openAt("e");
  return { name, server, url: server.urlOf("e"), headers };
}

async function personal(target) {
  const server = await target.start();
  return {
    name: target.name,
    server,
    url: server.url,
    headers: server.session,
    params: target.call(0, "echo", SMALL),
  };
}

/** An OTLP collector that accepts every batch unread. */
async function collector() {
  const server = createServer((request, response) => {
    request
      .resume()
      .on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Reads the live events and fetches the metrics each second. Returns a function that stops this. */
async function watch({ server }) {
  const stopping = new AbortController();
  const { adminHeaders: headers, base } = server;
  const { signal } = stopping;
  const { body } = await fetch(`${base}/api/v1/events`, { headers, signal });
  void body.pipeTo(new WritableStream()).catch(() => {});
  const timer = setInterval(
    () =>
      void fetch(`${base}/metrics`, { headers, signal })
        .then((got) => got.text())
        .catch(() => {}),
    1_000,
  );
  return () => {
    clearInterval(timer);
    stopping.abort();
  };
}

/** An endpoint with audit (in `store` if given), metrics, traces and live view. */
export async function everythingOn(name, store) {
  const sink = await collector();
  const target = await endpointWith(name, GUARDED, { store, env: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url } });
  const stopWatching = await watch(target);
  const close = () => {
    stopWatching();
    sink.close();
  };
  return { ...target, close };
}

const PARAMS = { name: "mcp_call", arguments: { server: "s0", tool: "echo", args: SMALL } };

export async function loadOf({ name, server, url, headers, params = PARAMS }) {
  const { answer } = await ask(url, { id: 2, method: "tools/call", params }, headers);
  if (!answer?.result || answer.result.isError) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  return { name, server, load: new Load(url, [{ params, headers }]) };
}

export async function measure({ of, peers: withPeers, dists, postgres }) {
  const problems = [];
  const stores = postgres.there ? [await countingPostgres(), await countingPostgres()] : [];
  const others = withPeers ? peers((text) => problems.push(leftOut("peers", text))) : [];
  const targets = [
    await personal({ ...metamcp(PERSONAL) }),
    await personal(bare),
    await endpointWith("no layers", []),
    await endpointWith("guarded", GUARDED),
    await endpointWith("eight layers", EIGHT),
    ...(stores[0] ? [await endpointWith("guarded, Postgres", GUARDED, { store: stores[0].store })] : []),
    await everythingOn("everything", stores[1]?.store),
  ];
  for (const dist of dists) targets.push(await endpointWith(`guarded, ${basename(dist)}`, GUARDED, { dist }));
  for (const peer of others) targets.push(await personal(peer));
  const loads = [];
  for (const target of targets) loads.push(await loadOf(target));
  const figures = await inTurn(loads, {
    requests: of(2_500, 64),
    warm: of(15_000, 64),
    inFlight: 32,
    rounds: of(15, 1),
  });
  for (const { server, close } of targets) {
    close?.();
    await server.stop();
  }
  for (const { drop } of stores) await drop();
  return [...rowsOf(figures, postgres), ...problems];
}

function rowsOf(figures, postgres) {
  const micros = (name) => median(figures.get(name).cpu);
  const rate = (name) => Math.round(median(figures.get(name).rate)).toLocaleString("en");
  const figure = (name) => `${micros(name).toFixed(0)} µs, ${rate(name)} calls/s`;
  const against = (what, name, to, limit) =>
    row(what, ratio(figures, name, to), { limit, note: figure(name) });
  const ours = [
    PERSONAL,
    bare.name,
    "no layers",
    "guarded",
    "eight layers",
    "guarded, Postgres",
    "everything",
  ];
  const others = [...figures.keys()].filter((name) => !ours.includes(name));
  const more = figures.get("eight layers").cpu.map((cpu, round) => cpu - figures.get("no layers").cpu[round]);
  return [
    against("CPU per call: personal HTTP mode ÷ bare front", PERSONAL, bare.name),
    against("CPU per call: endpoint without layers ÷ personal HTTP mode", "no layers", PERSONAL),
    against(
      "CPU per call: key, policy, rate limit, audit, metrics ÷ personal HTTP mode",
      "guarded",
      PERSONAL,
      1.3,
    ),
    ...(postgres.there
      ? [against("… with the store in Postgres", "guarded, Postgres", PERSONAL, 1.3)]
      : [leftOut("… with the store in Postgres", postgres.why)]),
    against("… and traces, live view, metrics fetched each second", "everything", PERSONAL, 1.3),
    against("CPU per call: pipeline of eight ÷ none", "eight layers", "no layers"),
    row("… more per call", median(more), { limit: 24, unit: " µs", digits: 1, note: "8 × 3 µs" }),
    ...others.map((name) => against(`CPU per call: ${name} ÷ personal HTTP mode`, name, PERSONAL)),
  ];
}
