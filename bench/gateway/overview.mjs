// What it takes to draw the overview in Chromium, with 60 servers, some of which fail, and many calls in its range.
import { cpSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";
import { findChromium } from "../../scripts/chromium.mjs";
import { fresh } from "../overhead/http/running.mjs";
import { median } from "../overhead/median.mjs";
import { filledStore, HOUR_MS, invented, sumsCode } from "./call-store.mjs";
import { leftOut, row } from "./row.mjs";
import { allOf, DIST, ENV, fixtures, node, startGateway } from "./serve.mjs";

const SERVERS = 60;
const PARTS = 5;
const CLIENTS = Array.from({ length: 12 }, (_, n) => `client-${n}`);
const EMAIL = "ada@example.org";
const PASSWORD = "correct horse battery";
/** Each answer waits so long, so that the time until the page is drawn counts the answers that wait for others. */
const ROUND_TRIP_MS = 1_000;

export async function measure({ of, dists }) {
  const program = findChromium();
  if (!program) return [leftOut("overview", "there is no chromium")];
  const calls = of(100_000, 500);
  const home = await filledHome(calls, of(SERVERS, 5));
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
  const builds = [];
  for (const dist of [DIST, ...dists]) builds.push(await opened(dist, home, browser));
  for (let n = 0; n < of(9, 1); n++) for (const { visits, visit } of builds) visits.push(await visit());
  const rows = [];
  for (const build of builds) rows.push(...(await rowsOf(build, calls)));
  for (const { server } of builds) await server.stop();
  await browser.close();
  return rows;
}

/** The home of a gateway with servers that nobody called yet, and sums of calls of the last days. */
async function filledHome(calls, count) {
  const home = fresh("home");
  const store = `file:${home}/gateway.db`;
  const servers = fixtures(count);
  // What fails at each start.
  for (const name of Object.keys(servers).filter((_, at) => at % 6 === 5))
    servers[name] = { command: node, args: ["-e", 'console.error("no token"); process.exit(3)'] };
  const parts = Array.from({ length: PARTS }, (_, at) => `part${at}`);
  const document = {
    servers,
    namespaces: Object.fromEntries(parts.map((name) => [name, allOf(servers)])),
    endpoints: Object.fromEntries(parts.map((name) => [name, { namespaces: [name], surface: "aggregate" }])),
  };
  const server = await startGateway("overview", { store, document, env: { METAMCP_HOME: home } });
  const all = async (path) => (await server.api("GET", `${path}?limit=500`)).items;
  const [endpoints, namespaces] = [await all("/endpoints"), await all("/namespaces")];
  const team = { ...invented({ people: 40 }), endpoints, namespaces, clients: CLIENTS };
  team.servers = await all("/mcp-servers");
  const { invitation } = await server.api("POST", "/users", { email: EMAIL, role: "admin" });
  await post(`${server.base}/api/v1/invitations/${invitation.url.split("/").at(-1)}`, { password: PASSWORD });
  await server.stop();
  await filledStore(await sumsCode(), { calls, ms: 24 * 6.9 * HOUR_MS, team, home });
  return home;
}

async function opened(dist, filled, browser) {
  const home = fresh("home");
  cpSync(filled, home, { recursive: true });
  const env = { ...ENV, METAMCP_HOME: home };
  const server = await startGateway(`overview of ${dist}`, { dist, store: `file:${home}/gateway.db`, env });
  for (const { uuid } of (await server.api("GET", "/mcp-servers?limit=500")).items)
    await server.api("POST", `/mcp-servers/${uuid}/connect`).catch(() => {});
  const { headers } = await post(`${server.base}/api/v1/login`, { email: EMAIL, password: PASSWORD });
  const [name, value] = headers.get("set-cookie").split(";", 1)[0].split("=", 2);
  const visit = (options) => visited(browser, server, { name, value, url: server.base }, options);
  // The first visit compiles the code of the gateway.
  await visit();
  return { dist, server, visit, visits: [] };
}

async function post(url, body) {
  const headers = { "content-type": "application/json", origin: new URL(url).origin };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: HTTP ${answer.status}`);
  return answer;
}

/** Opens the overview as a new visitor, without a cache. */
async function visited(browser, server, cookie, { latency = 0 } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies([cookie]);
  await context.addInitScript(WATCH);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable");
  await devtools.send("Network.enable");
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  let requests = 0;
  devtools.on("Network.requestWillBeSent", () => requests++);
  const metrics = async () => {
    const answer = await devtools.send("Performance.getMetrics");
    return Object.fromEntries(answer.metrics.map(({ name, value }) => [name, value]));
  };
  const before = server.cpu();
  const nothing = await metrics();
  await page.goto(`${server.base}/?range=7d`, { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.drawn, undefined, { timeout: 120_000 });
  const { ThreadTime, Nodes, LayoutCount } = await metrics();
  const gateway = (server.cpu() - before) / 1_000;
  // Later tasks of the page, such as answers that are read again.
  await pause(latency === 0 ? 1_000 : 0);
  const { drawn, lastLong } = await page.evaluate("({ drawn, lastLong })");
  const seen = {
    drawn,
    usable: Math.max(drawn, lastLong),
    page: (ThreadTime - nothing.ThreadTime) * 1_000,
    gateway,
    nodes: Nodes,
    layouts: LayoutCount,
    requests,
  };
  await context.close();
  return seen;
}

/** Runs in the page: notes when figures, picture and tables have been painted, and the end of long tasks. */
const WATCH = `
  window.lastLong = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.lastLong = startTime + duration;
  }).observe({ type: "longtask", buffered: true });
  const PARTS = [".figures:not([aria-busy=true])", ".flow-ribbon", ".heat", "section:last-child > .table-frame tr[data-key]"];
  requestAnimationFrame(function look() {
    if (PARTS.every((part) => document.querySelector(part)))
      requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
    else requestAnimationFrame(look);
  });
`;

async function rowsOf({ dist, visits, visit }, calls) {
  const of = (name) => median(visits.map((seen) => seen[name]));
  const slow = await visit({ latency: ROUND_TRIP_MS });
  const where = dist === DIST ? "" : ` (${dist})`;
  const what = `overview${where}, 7 days, ${SERVERS} servers, ${calls.toLocaleString("en")} calls`;
  const ms = { unit: " ms", digits: 0 };
  return [
    row(`${what}: drawn`, of("drawn"), { ...ms, limit: 1_000, note: "without a cache; elapsed" }),
    row("… and no task longer than 50 ms after", of("usable"), { ...ms, limit: 1_000 }),
    row("… CPU of the gateway until then", of("gateway"), ms),
    row("… CPU of the main thread of the page until then", of("page"), {
      ...ms,
      note: `${of("nodes").toLocaleString("en")} nodes, ${of("layouts")} layouts, ${of("requests")} requests`,
    }),
    row("… answers that wait for each other", Math.round((slow.drawn - of("drawn")) / ROUND_TRIP_MS), {
      digits: 0,
    }),
  ];
}
