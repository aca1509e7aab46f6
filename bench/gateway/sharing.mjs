// Many namespaces with the same servers: the number of processes, and the memory of the namespaces.
import { readdirSync, readFileSync } from "node:fs";
import { ask } from "../overhead/http/load.mjs";
import { row } from "./row.mjs";
import { allOf, fixtures, startGateway } from "./serve.mjs";

/** Number of running child processes. */
function children(pid) {
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid;
    } catch {
      return false;
    }
  }).length;
}

/**
 * Measures a gateway with this number of namespaces. The number of sessions and calls is always the same;
 * each session calls every server once.
 */
async function usageWith(namespaces, { servers, sessions }) {
  const entries = fixtures(servers);
  const names = Array.from({ length: namespaces }, (_, at) => `n${at}`);
  const server = await startGateway("sharing", {
    probe: true,
    document: {
      servers: entries,
      namespaces: Object.fromEntries(names.map((name) => [name, allOf(entries)])),
      endpoints: Object.fromEntries(names.map((name) => [name, { namespaces: [name] }])),
    },
  });
  const before = children(server.pid);
  const key = await server.key();
  for (let at = 0; at < sessions; at++) {
    const endpoint = `n${at % namespaces}`;
    const headers = await server.openAt(endpoint, key);
    const call = (name, id) => {
      const params = { name: "mcp_call", arguments: { server: name, tool: "add", args: { a: 1, b: 2 } } };
      return ask(server.urlOf(endpoint), { id: id + 2, method: "tools/call", params }, headers);
    };
    for (const { answer } of await Promise.all(Object.keys(entries).map(call)))
      if (!answer?.result || answer.result.isError) throw new Error(JSON.stringify(answer));
  }
  const figures = { before, processes: children(server.pid), memory: await server.memory() };
  await server.stop();
  return figures;
}

export async function measure({ of }) {
  const namespaces = of(100, 5);
  const size = { servers: of(20, 3), sessions: namespaces };
  const one = await usageWith(1, size);
  const many = await usageWith(namespaces, size);
  const more = (many.memory.used - one.memory.used) / 1e6;
  const resident = ((many.memory.rss - one.memory.rss) / 1e6).toFixed(1);
  const each = ((more * 1e3) / (namespaces - 1)).toFixed(1);
  const what = `${namespaces} namespaces over ${size.servers} servers`;
  return [
    row(`${what}: processes before first use`, many.before, { limit: 0 }),
    row(`${what}: processes, each server called at each endpoint`, many.processes, { limit: size.servers }),
    row(`${what}: memory over one namespace`, more, {
      limit: 10 + namespaces * 0.05,
      unit: " MB",
      digits: 1,
      note: `${each} KB each; resident ${resident} MB`,
    }),
  ];
}
