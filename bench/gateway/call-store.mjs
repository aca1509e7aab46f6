// A store with the sums of many calls, written before a gateway starts.
import { randomUUID } from "node:crypto";
import { fresh } from "../overhead/http/running.mjs";
import { ENV } from "./serve.mjs";
import { load } from "./source.mjs";

const TOOLS = 4;
/** Tools that one person uses. */
export const TOOLS_USED = 8;
const CLIENTS = ["claude-code", "cursor-vscode", "langgraph", "support-bot"];
export const HOUR_MS = 3_600_000;
const BATCH = 5_000;

export const sumsCode = () =>
  load(
    "store/open-store.ts",
    "engine/system-clock.ts",
    "kernel/log.ts",
    "observe/sums/call-sums.ts",
    "observe/call-groups.ts",
    "observe/live/durations.ts",
  );

const named = (name) => ({ uuid: randomUUID(), name });
const some = (count, nameOf) => Array.from({ length: count }, (_, n) => named(nameOf(n)));

/** What is called, by whom and through what. A gateway has its own uuids for objects. */
export function invented({ servers = 60, people = 100 } = {}) {
  return {
    servers: some(servers, (n) => `s${n}`),
    people: some(people, (n) => `person${n}@example.com`),
    endpoints: [named("e")],
    namespaces: [named("n")],
    clients: CLIENTS,
  };
}

/** Each person uses a few tools of a few servers, with one key and one client. */
export function callersOf({ servers, people, endpoints, clients }) {
  return people.map(({ uuid: id, name }, n) => {
    const principal = { kind: "account", id, name, key: { id: randomUUID(), name: `key ${n}` } };
    const client = { name: clients[n % clients.length] };
    const tools = Array.from({ length: TOOLS_USED }, (_, at) => ({
      server: servers[(n * 7 + at * 11) % servers.length],
      tool: `tool${at % TOOLS}`,
    }));
    return { principal, client, endpoint: endpoints[n % endpoints.length], tools };
  });
}

/** A finished call of one of them, at some time of the last `ms`. */
export function callOf(callers, n, now, ms) {
  const { tools, ...who } = callers[(n * 31) % callers.length];
  return {
    ...who,
    // Not in step with the people, so that every person uses all of their tools.
    ...tools[(n * 17 + Math.floor(n / callers.length)) % tools.length],
    at: now - Math.floor(((n * 7_919) % 100_003) * (ms / 100_003)),
    outcome: n % 12 === 0 ? "error" : n % 40 === 0 ? "refused" : "ok",
    // A tool takes about as long each time.
    durationMs: (5 + ((n * 17) % TOOLS_USED) * 60) * (1 + (n % 10) / 20),
    requestBytes: 80,
    resultBytes: 900,
  };
}

/** What counts into a store. Calls of an endpoint go through one namespace. */
export async function counting(
  { openStore, CallSums, CallGroups, silentLog: log, systemClock: clock },
  { endpoints, namespaces },
  home = fresh("store"),
) {
  const url = `file:${home}/gateway.db`;
  const store = await openStore({ url, home, env: ENV, clock, log });
  const namespaceOf = (endpoint) => namespaces[endpoints.findIndex(({ uuid }) => uuid === endpoint)];
  const sums = new CallSums({ sums: store.sums, clock, log, namespaceOf });
  const groups = new CallGroups({ hasTool: () => true });
  const close = async () => {
    await sums.close();
    await store.close();
  };
  return { url, sums, groupOf: (call) => groups.of(call), close };
}

/** Writes the sums of calls of the last `ms`, into a new store or that of `home`, and returns its URL. */
export async function filledStore(parts, { calls, ms, team = invented(), home }) {
  const { url, sums, groupOf, close } = await counting(parts, team, home);
  const callers = callersOf(team);
  const now = Date.now();
  // In the order of time, as calls come.
  const all = Array.from({ length: calls }, (_, n) => callOf(callers, n, now, ms)).sort(
    (a, b) => a.at - b.at,
  );
  for (let n = 0; n < calls; n += BATCH) {
    for (const call of all.slice(n, n + BATCH)) sums.add(groupOf(call), call);
    await sums.flush();
  }
  await close();
  return url;
}
