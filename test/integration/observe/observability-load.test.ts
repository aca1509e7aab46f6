/**
 * Records and counters match the calls exactly, whatever their outcome. A store that hangs or is unreachable
 * delays no call.
 */
import { describe, expect, test } from "vitest";
import { cutProxy } from "../../support/cut-proxy.ts";
import { FULL as ALL } from "../../support/full.ts";
import { HEADERS } from "../../support/http-gateway.ts";
import { kill } from "../../support/processes.ts";
import { countStatements } from "../../support/statements.ts";
import { type TeamGateway, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { noPostgres, postgresAddress, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

/** `METAMCP_CALLS=10000` for more calls. */
const CALLS = Number(process.env["METAMCP_CALLS"] ?? (ALL ? 1_000 : 300));
const WORKERS = 16;
const LONG_TIMEOUT = { timeout: 60_000 + CALLS * 60 };
const SECRET = { METAMCP_SECRET_KEY: "a-secret-for-this-gateway-0123456789" };
const FULL = { use: "audit", arguments: "full", results: "none" };
const GUARDS = [
  { use: "policy", default: "allow", rules: [{ effect: "deny", tools: ["fix:pid"] }] },
  { use: "rate-limit", requests: 1_000_000, per: "1s" },
];

async function served(gateway: TeamGateway, folder: Temp, middleware: readonly object[], more: object = {}) {
  const { api } = gateway;
  const journal = folder.journal();
  await api("POST", "/mcp-servers", {
    name: "fix",
    ...fixture("--journal", journal.file),
    timeoutMs: 1_000,
    ...more,
  });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const surface of ["meta", "metatools", "aggregate"])
    await api("POST", "/endpoints", {
      name: surface,
      namespaces: ["team"],
      surface,
      middleware,
      openapi: true,
    });
  return { gateway, api, journal, key: await gateway.key() };
}

type Tally = Map<string, number>;

/** Counts calls by tool and outcome, as the caller saw them. */
function counterFor(tally: Tally): (tool: string, outcome: string) => void {
  return (tool, outcome) => {
    const key = `${tool} ${outcome}`;
    tally.set(key, (tally.get(key) ?? 0) + 1);
  };
}

const sorted = (tally: Tally): object => Object.fromEntries([...tally].toSorted());

/** The outcome of a call, read from its answer. */
const outcomeOf = (text: string): string =>
  /tool_not_found|validation_input|rate_limited|Unknown tool/.test(text)
    ? "refused"
    : /execution_failed|server_unavailable|timeout|failed/.test(text)
      ? "error"
      : "ok";

test(`each of ${CALLS} calls with kills and refusals has one record, and the counters match`, {
  timeout: 60_000 + CALLS * 30,
}, async () => {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const { api, key, journal } = await served(gateway, folder, [FULL, ...GUARDS]);
  const clients = {
    meta: await teamClient(gateway, "meta", { key }),
    metatools: await teamClient(gateway, "metatools", { key, way: "2026-07-28" }),
    aggregate: await teamClient(gateway, "aggregate", { key, way: "sse" }),
  };
  const tally: Tally = new Map();
  const count = counterFor(tally);
  const messages = new Set<string>();
  let made = 0;
  let sleeps = 0;
  const arrived = (tool: string) => journal.events("message").filter((event) => event.tool === tool).length;
  const rest = async (tool: string, args: object) => {
    const answer = await fetch(`${gateway.url}/metamcp/aggregate/api/${tool}`, {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": key },
      body: JSON.stringify(args),
    });
    await answer.text();
    return answer.status;
  };
  const acts: readonly ((id: string) => Promise<void>)[] = [
    async (id) =>
      count(
        "echo",
        outcomeOf(
          await clients.meta.call("mcp_call", { server: "fix", tool: "echo", args: { message: id } }),
        ),
      ),
    async (id) =>
      count(
        "echo",
        outcomeOf(await clients.metatools.call("run_tool", { tool_id: "fix:echo", args: { message: id } })),
      ),
    async (id) => count("echo", outcomeOf(await clients.aggregate.call("fix__echo", { message: id }))),
    async (id) => count("echo", (await rest("fix__echo", { message: id })) === 200 ? "ok" : "error"),
    async () => count("is_error", outcomeOf(await clients.aggregate.call("fix__is_error"))),
    async () => count("fail", (await rest("fix__fail", {})) >= 500 ? "error" : "?"),
    async () =>
      count(
        "other",
        outcomeOf(await clients.meta.call("mcp_call", { server: "fix", tool: `nothing ${made}` })),
      ),
    async () => count("pid", (await rest("fix__pid", {})) === 404 ? "refused" : "?"),
    async () =>
      count(
        "add",
        outcomeOf(await clients.metatools.call("run_tool", { tool_id: "fix:add", args: { a: "one" } })),
      ),
    async (id) => {
      const code = `return await tools.fix.echo({ message: ${JSON.stringify(id)} })`;
      const answered = outcomeOf(await clients.meta.call("mcp_execute", { code }));
      count("echo", answered);
      count("mcp_execute", answered);
    },
    async (id) => {
      const leaving = new AbortController();
      const started = ++sleeps;
      let settled = false;
      const asked = fetch(`${gateway.url}/metamcp/aggregate/api/fix__sleep`, {
        method: "POST",
        headers: { ...HEADERS, "x-api-key": key },
        body: JSON.stringify({ ms: 60_000, message: id }),
        signal: leaving.signal,
      })
        .catch(() => {})
        .finally(() => {
          settled = true;
        });
      // A client that disconnects before the gateway has read the request makes no call.
      await until(() => settled || arrived("sleep") >= started, { what: "a call to leave" });
      leaving.abort();
      await asked;
      count("sleep", "error");
    },
  ];
  const worker = async (): Promise<void> => {
    while (made < CALLS) {
      const id = `m${made++}`;
      const act = made % 97 === 0 ? 10 : made % 10;
      if ([0, 1, 2, 3, 9].includes(act)) messages.add(id);
      await acts[act]?.(id);
      // Kills the process of the server during calls.
      if (made % 101 === 0) killChild();
    }
  };
  const killChild = (): void => {
    const pid = journal.events("start").at(-1)?.pid;
    if (pid !== undefined) kill(pid);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));

  const total = [...tally.values()].reduce((sum, n) => sum + n, 0);
  const stats = await until(
    async () => {
      const { body } = await api("GET", "/stats?by=tool&per=hour");
      return body.totals.calls >= total ? body : undefined;
    },
    { what: `${total} calls in the figures` },
  );
  expect(stats.totals.calls).toBe(total);
  const recorded: Tally = new Map();
  const countRecord = counterFor(recorded);
  const echoed: string[] = [];
  const records = await allRecords(gateway, total);
  for (const record of records) {
    const known = record.code !== "tool_not_found" || record.tool === "pid";
    countRecord(known ? record.tool : "other", record.outcome);
    if (record.tool === "echo") echoed.push(record.arguments?.message ?? "");
  }
  expect(sorted(recorded)).toEqual(sorted(tally));
  expect(new Set(records.map(({ seq }) => seq)).size).toBe(new Set(records).size);
  // Calls that never reached a server are recorded with the names of their arguments only.
  const reached = echoed.filter((message) => message !== "");
  expect(new Set(reached).size).toBe(reached.length);
  expect(reached.every((message) => messages.has(message))).toBe(true);
  expect((await api("GET", "/audit/verify")).body.ok).toBe(true);

  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const counters: Tally = new Map();
  for (const [, tool = "", outcome = "", n] of text.matchAll(
    /^metamcp_calls_total\{.*tool="([^"]*)",outcome="([^"]*)"\} (\d+)$/gm,
  ))
    counters.set(`${tool} ${outcome}`, (counters.get(`${tool} ${outcome}`) ?? 0) + Number(n));
  expect(sorted(counters)).toEqual(sorted(tally));
  expect(text).toContain("metamcp_calls_in_flight 0\n");
  expect(text).toContain("metamcp_audit_lost_total 0\n");
});

interface CallRecord {
  readonly seq: number;
  readonly tool: string;
  readonly outcome: string;
  readonly code?: string;
  readonly arguments?: { readonly message?: string };
}

/** One for each call: a record of many equal refusals counts as often as it says. */
async function allRecords({ api }: TeamGateway, count: number): Promise<readonly CallRecord[]> {
  return await until(
    async () => {
      const records: CallRecord[] = [];
      for (let cursor = ""; ; ) {
        const { body, status } = await api("GET", `/audit?kind=call&limit=500${cursor}`);
        if (status !== 200) return undefined;
        for (const record of body.items) for (let n = record.count ?? 1; n > 0; n--) records.push(record);
        if (body.nextCursor === undefined) break;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
      return records.length >= count ? records : undefined;
    },
    { what: `${count} audit records` },
  );
}

const ON_POSTGRES = `on Postgres${noPostgres ? ` (left out: ${noPostgres})` : ""}`;

describe.skipIf(noPostgres)(ON_POSTGRES, LONG_TIMEOUT, () => {
  async function behindProxy() {
    const { host, port, url } = postgresAddress();
    const statements = countStatements();
    const proxy = await cutProxy({ host, port }, statements.watch);
    const through = new URL(url);
    through.hostname = "127.0.0.1";
    through.port = String(proxy.port);
    const database = await postgresDatabase(through.href);
    const folder = temp();
    const gateway = await teamGateway(folder, { flags: ["--store", database.url], env: SECRET });
    return { proxy, statements, gateway, folder };
  }

  /** A session that calls `echo` repeatedly. */
  async function calls(gateway: TeamGateway, key: string, count: number, endpoint = "aggregate") {
    const client = await teamClient(gateway, endpoint, { key });
    for (let i = 0; i < count; i++) expect(await client.call("fix__echo", { message: `${i}` })).toBe(`${i}`);
    return client;
  }

  test("requests of clients use no statement of the store, and the audit log uses at most 20 per second", async () => {
    const { gateway, folder, statements } = await behindProxy();
    const { key } = await served(gateway, folder, [{ use: "audit" }, ...GUARDS]);
    await calls(gateway, key, 20);
    const begun = performance.now();
    const before = statements.all.length;
    await Promise.all(Array.from({ length: WORKERS }, () => calls(gateway, key, CALLS / WORKERS)));
    const seconds = (performance.now() - begun) / 1_000;
    const during = statements.all.slice(before);
    const audit = during.filter((text) => text.includes("metamcp_audit"));
    expect(audit.length).toBeGreaterThan(0);
    expect(audit.length).toBeLessThanOrEqual(20 * seconds + 1);
    // A gateway says every two seconds that it lives.
    const beats = during.filter((text) => text.includes("UPDATE metamcp_replicas SET seen"));
    expect(beats.length).toBeLessThanOrEqual(seconds / 2 + 1);
    // Sums of calls are written every five seconds, in a transaction.
    const sums = during.filter((text) => text.includes("metamcp_sum_batches"));
    expect(sums.length).toBeLessThanOrEqual(seconds / 5 + 1);
    // Changes of other gateways are polled twice a second, and the last use of keys is written every half
    // minute.
    const others = during.filter(
      (text) => !beats.includes(text) && !/metamcp_audit|metamcp_sum|UNION ALL SELECT kind/.test(text),
    );
    // A transaction begins by locking the key of the store.
    expect(others.length).toBeLessThanOrEqual(10 * Math.ceil(seconds / 30) + 3 * sums.length);
    const known = /^(BEGIN|COMMIT)|advisory|metamcp_record|notify|metamcp_meta WHERE name = \$1 FOR SHARE$/i;
    expect(others.filter((text) => !known.test(text))).toEqual([]);
  });

  test("a store that hangs delays no call, and calls that require a record are refused", async () => {
    const { proxy, gateway, folder } = await behindProxy();
    const { api, key } = await served(gateway, folder, []);
    await api("PATCH", "/endpoints/meta", {
      surface: "aggregate",
      middleware: [{ use: "audit", required: true }],
    });
    const client = await calls(gateway, key, 10);
    const strict = await calls(gateway, key, 1, "meta");
    proxy.stall();
    for (let i = 0; i < 100; i++) await client.call("fix__echo", { message: "x" });
    const refused = await until(async () => {
      const text = await strict.call("fix__echo", { message: "x" });
      return text === "x" ? undefined : text;
    });
    expect(refused).toContain("audit log cannot be written");
    expect(await strict.tools()).toContain("fix__echo");
    const queued = async () => Number(/^metamcp_audit_queued (\d+)$/m.exec(await metrics(gateway))?.[1]);
    expect(await queued()).toBeGreaterThanOrEqual(100);
    proxy.flow();
    await until(async () => (await queued()) === 0);
    await until(async () => (await strict.call("fix__echo", { message: "x" })) === "x");
    const { body } = await api("GET", "/stats?by=tool");
    expect((await allRecords(gateway, body.totals.calls)).length).toBe(body.totals.calls);
    expect((await api("GET", "/audit/verify")).body.ok).toBe(true);
    expect(await metrics(gateway)).toContain("metamcp_audit_lost_total 0\n");
  });

  test("while the store is unreachable records wait, and the reason is shown", async () => {
    const { proxy, gateway, folder } = await behindProxy();
    const { api, key } = await served(gateway, folder, []);
    const client = await calls(gateway, key, 10);
    await proxy.cut();
    for (let i = 0; i < 50; i++) await client.call("fix__echo", { message: "x" });
    const { audit } = await until(async () => {
      const { body } = await api("GET", "/stats");
      return body.audit.fault === undefined ? undefined : body;
    });
    expect(audit).toMatchObject({ lost: 0, fault: expect.stringContaining("Postgres") });
    expect((await api("GET", "/audit")).status).toBe(503);
    await proxy.mend();
    expect(await allRecords(gateway, 60)).toHaveLength(60);
    expect((await api("GET", "/audit/verify")).body.ok).toBe(true);
  });
});

async function metrics({ url }: TeamGateway): Promise<string> {
  return await (await fetch(`${url}/metrics`)).text();
}
