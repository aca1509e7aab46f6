/**
 * Hundreds of calls through ten endpoints while an administrator changes the config: each call gets one
 * answer that fits a config served meanwhile.
 */
import { expect, test } from "vitest";
import {
  type Caller,
  type CallOutcome,
  clientCaller,
  restCaller,
  sessionCaller,
} from "../../support/churn/callers.ts";
import { type Config, endpointIn, historyOf, resolve } from "../../support/churn/config-history.ts";
import {
  ENDPOINTS,
  LASTING_ENDPOINTS,
  RandomAdmin,
  SERVERS,
  SURFACES,
  TOOLS,
} from "../../support/churn/random-admin.ts";
import { readEvents } from "../../support/event-reader.ts";
import type { Journal } from "../../support/journal.ts";
import { childrenOf, gone } from "../../support/processes.ts";
import { Random } from "../../support/random-json.ts";
import { ADMIN_TOKEN } from "../../support/team-gateway.ts";
import { type TeamProcess, teamProcess } from "../../support/team-process.ts";
import { temp } from "../../support/temp.ts";

/** `METAMCP_CHURN=calls` for more calls; `METAMCP_SEED=n` for other changes. */
const CALLS = Number(process.env["METAMCP_CHURN"] ?? 400);
const SEED = Number(process.env["METAMCP_SEED"] ?? 20_260_101);
const WORKERS = 24;
const EVERY_MS = 100;

interface Called extends CallOutcome {
  readonly endpoint: string;
  readonly surface: string;
  readonly server: string;
  readonly name: string;
  readonly key: string;
  readonly begun: number;
  readonly ended: number;
}

test(`${CALLS} calls get correct answers while the config changes (METAMCP_SEED=${SEED})`, {
  timeout: 60_000 + CALLS * 120,
}, async () => {
  const folder = temp();
  const journals = new Map(SERVERS.map((server) => [server, folder.journal(server)]));
  const gateway = await teamProcess(folder, { flags: ["--log-level", "error"] });
  const events = await readEvents(`${gateway.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const admin = new RandomAdmin(gateway, new Random(SEED), (server) => folder.journal(server).file);
  await admin.createAll();

  const calls: Called[] = [];
  const ticking = setInterval(() => admin.step(), EVERY_MS);
  try {
    const callers = await callersOf(gateway);
    await Promise.all(
      Array.from({ length: WORKERS }, async (_, n) => {
        const random = new Random(SEED + n + 1);
        while (calls.length < CALLS) calls.push(await callOnce(callers, random, `w${n}.${calls.length}`));
      }),
    );
  } finally {
    clearInterval(ticking);
  }
  await admin.settled();
  expect(admin.faults).toEqual([]);

  const configs = await historyOf(gateway, events);
  expect(configs.length).toBeGreaterThan(CALLS / 100);
  const executed = executionsIn(journals);
  const counted = new Map<string, number>();
  for (const call of calls) {
    check(call, configs, executed.get(call.key) ?? []);
    counted.set(call.kind, (counted.get(call.kind) ?? 0) + 1);
  }
  for (const kind of ["ok", "refused", "gone"]) expect(counted.get(kind), kind).toBeGreaterThan(0);
  const known = new Set(calls.map(({ key }) => key));
  expect([...executed.keys()].filter((key) => !known.has(key))).toEqual([]);

  // A gateway remembers the tools of a disabled server while it runs, which is not part of a view. So all
  // servers are enabled first.
  for (const server of SERVERS) await gateway.api("PATCH", `/mcp-servers/${server}`, { disabled: false });
  const shown = await shownBy(gateway);
  const living = childrenOf(gateway.pid);
  expect(await gateway.kill("SIGTERM")).toBe(0);
  await gone([...living, ...[...journals.values()].flatMap((journal) => journal.pids())]);
  // A restarted gateway compiles the config from the store.
  const fresh = await teamProcess(folder, { flags: ["--log-level", "error"] });
  expect(await shownBy(fresh)).toEqual(shown);
});

async function callersOf(gateway: TeamProcess): Promise<{ all: Caller[]; lasting: Caller[] }> {
  const [one, two, some] = await Promise.all([gateway.key(), gateway.key(), gateway.key(LASTING_ENDPOINTS)]);
  return {
    all: [sessionCaller(gateway, one, false), sessionCaller(gateway, two, true), restCaller(gateway, one)],
    lasting: [
      clientCaller(gateway, some, "sse"),
      clientCaller(gateway, two, "2026-07-28"),
      restCaller(gateway, some),
    ],
  };
}

async function callOnce(
  { all, lasting }: { all: Caller[]; lasting: Caller[] },
  random: Random,
  key: string,
): Promise<Called> {
  const endpoint = random.pick(ENDPOINTS);
  const caller = random.pick(LASTING_ENDPOINTS.includes(endpoint) ? [...all, ...lasting] : all);
  const request = {
    endpoint,
    surface: SURFACES[ENDPOINTS.indexOf(endpoint) % SURFACES.length] as string,
    server: random.pick(SERVERS),
    name: random.pick(TOOLS),
  };
  const begun = Date.now();
  const answer = await caller({ ...request, args: { key, ms: random.int(80) } });
  return { ...request, ...answer, key, begun, ended: Date.now() };
}

interface Execution {
  readonly server: string;
  readonly tool: string;
  readonly args: readonly string[];
}

/** Executions by their key. */
function executionsIn(journals: ReadonlyMap<string, Journal>): ReadonlyMap<string, readonly Execution[]> {
  const executed = new Map<string, Execution[]>();
  for (const [server, journal] of journals) {
    const started = new Map(journal.events("start").map(({ pid, argv }) => [pid, argv ?? []]));
    for (const { key = "", tool = "", pid } of journal.events("count"))
      executed.set(key, [...(executed.get(key) ?? []), { server, tool, args: started.get(pid) ?? [] }]);
  }
  return executed;
}

/** Sessions depend on the endpoint and its surface. */
const sessionsOf = (endpoint: ReturnType<typeof endpointIn>): string | undefined =>
  endpoint && `${endpoint.uuid} ${endpoint.surface}`;

const NOT_FOUND = /tool_not_found|server_not_found|Unknown tool/;

function check(call: Called, configs: readonly Config[], executions: readonly Execution[]): void {
  const description = JSON.stringify({ ...call, executions });
  const during = (since: number) => configs.filter(({ from, to }) => from <= call.ended && to >= since);
  const targets = during(call.begun).map((config) => resolve(config, call, TOOLS));
  const fitting = ({ server, tool, args }: Execution): boolean =>
    targets.some(
      (target) =>
        target?.server === server && target.tool === tool && target.args.slice(1).join() === args.join(),
    );
  expect(executions.length, description).toBeLessThanOrEqual(1);
  expect(executions.every(fitting), description).toBe(true);
  if (call.kind === "ok") {
    expect(executions, description).toHaveLength(1);
    expect(call.text, description).toContain(`${call.key} 1`);
  } else if (call.kind === "gone") {
    const there = during(call.since).map((config) => sessionsOf(endpointIn(config, call.endpoint)));
    expect(there.includes(undefined) || new Set(there).size > 1, description).toBe(true);
  } else {
    expect(executions, description).toEqual([]);
    expect(call.text, description).toMatch(NOT_FOUND);
    const others = during(call.begun).some(
      (config) => endpointIn(config, call.endpoint)?.surface !== call.surface,
    );
    expect(others || targets.includes(undefined), description).toBe(true);
  }
}

/** The whole config, and what endpoints and namespaces show to administrators and clients. */
async function shownBy(gateway: TeamProcess): Promise<object> {
  const { api, url } = gateway;
  const shown: Record<string, unknown> = { config: (await api("GET", "/config")).body };
  const headers = { "x-api-key": await gateway.key() };
  for (const server of SERVERS) await api("POST", `/mcp-servers/${server}/connect`);
  for (const kind of ["endpoints", "namespaces"])
    for (const { name } of (await api("GET", `/${kind}?limit=500`)).body.items)
      shown[`${kind} ${name}`] = (await api("GET", `/${kind}/${name}/tools`)).body;
  for (const name of ENDPOINTS)
    shown[name] = await (await fetch(`${url}/metamcp/${name}/api/openapi.json`, { headers })).json();
  return shown;
}
