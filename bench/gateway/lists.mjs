// A list of 1,000 tools of 50 servers: the CPU of sending it compared with bare node:http, and the time until
// a change is visible in it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Load } from "../overhead/http/load.mjs";
import { measure as inTurn, ratio } from "../overhead/http/rounds.mjs";
import { fresh, Running } from "../overhead/http/running.mjs";
import { median } from "../overhead/median.mjs";
import { manyServers } from "./many-servers.mjs";
import { row } from "./row.mjs";
import { allOf, node, root, startGateway } from "./serve.mjs";

const LIST = { id: 1_000_000_000, method: "tools/list" };

async function post(url, params, headers) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...LIST, params }),
  });
  const text = await response.text();
  const { result } = JSON.parse(/\{.*\}/s.exec(text)[0]);
  return { text, type: response.headers.get("content-type"), ...result };
}

/** All pages of the list, each with the params of its request. */
async function pagesOf(url, headers) {
  const pages = [];
  for (let params = {}; params; ) {
    const page = await post(url, params, headers);
    pages.push({ ...page, params });
    params = page.nextCursor && { cursor: page.nextCursor };
  }
  return pages;
}

const count = (pages) => pages.reduce((sum, { tools }) => sum + tools.length, 0);

export async function measure({ of }) {
  const servers = of(50, 5);
  const endpoints = of(100, 5);
  const each = 20;
  const many = await manyServers(servers, each);
  const names = Array.from({ length: endpoints }, (_, at) => `e${at}`);
  const endpoint = { namespaces: ["n"], surface: "aggregate" };
  const server = await startGateway("lists", {
    document: {
      servers: many.servers,
      namespaces: { n: allOf(many.servers) },
      endpoints: Object.fromEntries(names.map((name) => [name, endpoint])),
    },
  });
  const key = await server.key();
  const headers = await server.openAt("e0", key);
  const url = server.urlOf("e0");
  // The gateway asks servers for their tools on first use, so the list is incomplete at first.
  const pages = await server.retry(async () => {
    const found = await pagesOf(url, headers);
    if (count(found) < servers * each) throw new Error(`${count(found)} tools listed`);
    return found;
  });
  const rows = [
    ...(await sending({ server, url, headers, pages }, of)),
    await switching(server, key, names, of),
  ];
  await server.stop();
  many.close();
  return rows;
}

async function sending({ server, url, headers, pages }, of) {
  const files = pages.map(({ text }) => {
    const file = fresh("page");
    writeFileSync(file, text);
    return file;
  });
  const bare = new Running("bare list", node, [
    join(root, "bench/gateway/bare-list.mjs"),
    pages[0].type,
    ...files,
  ]);
  const bareUrl = await bare.untilOutput(/http:\/\/\S+/);
  const ask = ({ params }, more) => ({ method: "tools/list", params, headers: { ...headers, ...more } });
  const loads = [
    {
      name: "gateway",
      server,
      load: new Load(
        url,
        pages.map((page) => ask(page)),
      ),
    },
    {
      name: "bare",
      server: bare,
      load: new Load(
        bareUrl,
        pages.map((page, at) => ask(page, { "x-page": at })),
      ),
    },
  ];
  const figures = await inTurn(loads, { requests: of(400, 8), inFlight: 32, rounds: of(11, 1) });
  await bare.stop();
  const kilobytes = Math.round(pages.reduce((sum, { text }) => sum + text.length, 0) / 1_024);
  const note = `${median(figures.get("gateway").cpu).toFixed(0)} µs a page; ${pages.length} pages, ${kilobytes} KB in all`;
  const what = `tools/list, ${count(pages).toLocaleString("en")} tools, unchanged: CPU ÷ the same bytes by bare node:http`;
  return [row(what, ratio(figures, "gateway", "bare"), { limit: 2, note })];
}

/** The time from sending the change until the list of an endpoint with the change was read. */
async function switching(server, key, names, of) {
  const sessions = [];
  for (const name of names)
    sessions.push({ url: server.urlOf(name), headers: await server.openAt(name, key) });
  for (const { url, headers } of sessions) await post(url, {}, headers);
  const [{ uuid }] = (await server.api("GET", "/namespaces")).items;
  const times = [];
  const spent = [];
  for (let n = 0; n < of(60, 3); n++) {
    const { url, headers } = sessions[n % sessions.length];
    const disabled = n % 2 === 0;
    const before = server.cpu();
    const since = performance.now();
    await server.api("PATCH", `/namespaces/${uuid}`, {
      tools: [{ server: "server1", tool: "tool_7", disabled }],
    });
    const { tools } = await post(url, {}, headers);
    times.push(performance.now() - since);
    spent.push((server.cpu() - before) / 1e3);
    if (tools.some(({ name }) => name === "server1__tool_7") === disabled)
      throw new Error("the list is as it was");
  }
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)];
  const what = `one tool switched, ${names.length} endpoints: until the next list shows it, over HTTP`;
  return row(what, median(times), {
    limit: 50,
    unit: " ms",
    digits: 1,
    note: `p95 ${p95.toFixed(1)} ms; ${median(spent).toFixed(1)} ms of CPU`,
  });
}
