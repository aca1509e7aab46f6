/** A rate limit counts calls of the real tool, from every surface, code and chains, exactly. */
import { expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import {
  type TeamClient,
  type TeamGateway,
  teamClient,
  teamGateway,
  type Way,
} from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { noPostgres, postgresDatabase } from "../../support/test-databases.ts";
import { until } from "../../support/until.ts";

const THREE_PER_HOUR = [{ use: "rate-limit", requests: 3, per: "1h" }];
const FORTY = Array.from({ length: 40 }, (_, n) => n);

/** One call of a client on each surface. */
const CALL_ON: Readonly<Record<string, (client: TeamClient, n: number) => Promise<string>>> = {
  aggregate: (client, n) => client.call("fix__echo", { message: `m${n}` }),
  meta: (client, n) => client.call("mcp_call", { server: "fix", tool: "echo", args: { message: `m${n}` } }),
  metatools: (client, n) => client.call("run_tool", { tool_id: "fix:echo", args: { message: `m${n}` } }),
};

interface Target {
  readonly gateway: TeamGateway;
  readonly key: string;
  readonly endpoint: string;
}

/** Makes forty calls at an endpoint, concurrently or one by one. */
type FortyCalls = (place: Target, atOnce: boolean) => Promise<void>;

async function each<T>(atOnce: boolean, call: (n: number) => Promise<T>): Promise<readonly T[]> {
  if (atOnce) return await Promise.all(FORTY.map(call));
  const answers: T[] = [];
  for (const n of FORTY) answers.push(await call(n));
  return answers;
}

const onSurface =
  (surface: string): FortyCalls =>
  async ({ gateway, key, endpoint }, atOnce) => {
    const client = await teamClient(gateway, endpoint, { key });
    const answers = await each(atOnce, (n) => CALL_ON[surface]?.(client, n) as Promise<string>);
    expect(answers.filter((text) => /rate_limited/.test(text))).toHaveLength(37);
    expect(answers.find((text) => /rate_limited/.test(text))).toMatch(/Retry after \d+ s/);
  };

const CALLERS: readonly { readonly way: string; readonly surface: string; readonly forty: FortyCalls }[] = [
  ...Object.keys(CALL_ON).map((surface) => ({ way: surface, surface, forty: onSurface(surface) })),
  {
    way: "code",
    surface: "meta",
    async forty({ gateway, key, endpoint }, atOnce) {
      const client = await teamClient(gateway, endpoint, { key });
      const one = "(n) => tools.fix.echo({ message: String(n) }).catch(() => undefined)";
      const all = "Array.from({ length: 40 }, (_, n) => n)";
      const code = atOnce
        ? `await Promise.all(${all}.map(${one}));`
        : `for (const n of ${all}) await (${one})(n);`;
      await client.call("mcp_execute", { code });
    },
  },
  {
    way: "chain",
    surface: "metatools",
    async forty({ gateway, key, endpoint }, parallel) {
      const client = await teamClient(gateway, endpoint, { key });
      const steps = FORTY.slice(0, 20).map((n) => ({ tool_id: "fix:echo", args: { message: `m${n}` } }));
      for (const _ of [1, 2]) await client.call("run_chain", { steps, parallel, on_error: "continue" });
    },
  },
  {
    way: "rest",
    surface: "aggregate",
    async forty({ gateway, key, endpoint }, atOnce) {
      const answers = await each(atOnce, (n) =>
        fetch(`${gateway.url}/metamcp/${endpoint}/api/fix__echo`, {
          method: "POST",
          headers: { "x-api-key": key, "content-type": "application/json" },
          body: JSON.stringify({ message: `m${n}` }),
        }),
      );
      for (const { status, headers } of answers)
        if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
        else expect(status).toBe(200);
    },
  },
];

test("a limit of three per hour passes three of forty calls from every surface, concurrently and one by one", async () => {
  const { gateway, api, key, reached } = await layeredTeam();
  const limited = { namespaces: ["team"], openapi: true, middleware: THREE_PER_HOUR };
  for (const { way, surface, forty } of CALLERS)
    for (const atOnce of [true, false]) {
      const before = reached("echo");
      // Each endpoint has its own count.
      const endpoint = `${way}-${atOnce}`;
      expect((await api("POST", "/endpoints", { ...limited, name: endpoint, surface })).status).toBe(201);
      await forty({ gateway, key, endpoint }, atOnce);
      expect(reached("echo") - before, endpoint).toBe(3);
    }
});

test("a limit of three per hour passes three of forty concurrent calls from all surfaces in both eras", async () => {
  const { gateway, key, reached } = await layeredTeam({
    namespace: { middleware: THREE_PER_HOUR },
    endpoint: { openapi: true },
  });
  const as = (endpoint: string, way?: Way) => teamClient(gateway, endpoint, { key, ...(way && { way }) });
  const aggregate = [
    await as("aggregate"),
    await as("aggregate", "sse"),
    await as("aggregate", "2026-07-28"),
  ];
  const meta = [await as("meta"), await as("meta", "2026-07-28")];
  const metatools = [await as("metatools"), await as("metatools", "2026-07-28")];
  const code = (n: number) => `return await tools.fix.echo({ message: "m${n}" }).catch(() => 0)`;
  const calls: readonly ((n: number) => Promise<unknown>)[] = [
    ...aggregate.map((client) => (n: number) => CALL_ON["aggregate"]?.(client, n) as Promise<string>),
    ...meta.map((client) => (n: number) => CALL_ON["meta"]?.(client, n) as Promise<string>),
    ...meta.map((client) => (n: number) => client.call("mcp_execute", { code: code(n) })),
    ...metatools.map((client) => (n: number) => CALL_ON["metatools"]?.(client, n) as Promise<string>),
    ...metatools.map((client) => (n: number) => {
      const steps = [{ tool_id: "fix:echo", args: { message: `m${n}` } }];
      return client.call("run_chain", { steps });
    }),
    (n) =>
      fetch(`${gateway.url}/metamcp/aggregate/api/fix__echo`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ message: `m${n}` }),
      }),
  ];
  await Promise.all(FORTY.map(async (n) => await calls[n % calls.length]?.(n)));
  expect(reached("echo")).toBe(3);
  for (const way of calls) await way(99);
  expect(reached("echo")).toBe(3);
});

test.skipIf(noPostgres)(
  `gateways on one store count separately${noPostgres ? ` (left out: ${noPostgres})` : ""}`,
  async () => {
    const { url } = await postgresDatabase();
    const env = { METAMCP_SECRET_KEY: "a-secret-for-both-gateways-0123456789" };
    const start = () => teamGateway(temp(), { flags: ["--store", url], env });
    const [one, two] = [await start(), await start()];
    const journal = temp().journal();
    await one.api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file) });
    await one.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
    const endpoint = { name: "team", namespaces: ["team"], surface: "aggregate", middleware: THREE_PER_HOUR };
    expect((await one.api("POST", "/endpoints", endpoint)).status).toBe(201);
    const key = await one.key();
    const clients = await Promise.all(
      [one, two].map((gateway) => until(() => teamClient(gateway, "team", { key }).catch(() => undefined))),
    );
    const passed = await Promise.all(
      clients.map(async (client) => {
        const answers = await Promise.all(FORTY.map((n) => client.call("fix__echo", { message: `m${n}` })));
        return answers.filter((text) => /^m\d+$/.test(text)).length;
      }),
    );
    expect(passed).toEqual([3, 3]);
    expect(journal.events("message").filter(({ tool }) => tool === "echo")).toHaveLength(6);
  },
);

test("the limit of a namespace counts all endpoints, code and chains together", async () => {
  const { gateway, key, reached } = await layeredTeam({ namespace: { middleware: THREE_PER_HOUR } });
  const meta = await teamClient(gateway, "meta", { key });
  const metatools = await teamClient(gateway, "metatools", { key });
  const code = `const all = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => tools.fix.echo({ message: "c" + n })));
    return all.filter((one) => one.status === "fulfilled").length;`;
  expect(await meta.call("mcp_execute", { code })).toContain("3");
  const chain = await metatools.call("run_chain", {
    steps: [{ tool_id: "fix:echo", args: { message: "chained" } }],
  });
  expect(chain).toMatch(/rate_limited/);
  expect(reached("echo")).toBe(3);
});

test("a call that one limit refuses does not count for another", async () => {
  const { gateway, key, api, reached } = await layeredTeam({
    endpoint: { middleware: [{ use: "rate-limit", requests: 5, per: "1h" }] },
    server: { middleware: [{ use: "rate-limit", requests: 2, per: "1h", by: "tool" }] },
  });
  const client = await teamClient(gateway, "aggregate", { key });
  for (let n = 0; n < 10; n += 1) await client.call("fix__echo", { message: `${n}` });
  expect(reached("echo")).toBe(2);
  // Three of the five calls of the endpoint are left for another tool.
  for (let n = 0; n < 10; n += 1) await client.call("fix__args", { n });
  expect(reached("args")).toBe(2);
  const { body } = await api("GET", "/mcp-servers");
  await api("PATCH", `/mcp-servers/${body.items[0].uuid}`, { middleware: [] });
  for (let n = 0; n < 10; n += 1) await client.call("fix__args", { n });
  expect(reached("args"), "one was left of the endpoint's").toBe(3);
});

test("an invalid layer is rejected with its path, and the old layers stay", async () => {
  const { gateway, key, api, reached } = await layeredTeam({ endpoint: { middleware: THREE_PER_HOUR } });
  const { body } = await api("GET", "/endpoints");
  const { uuid } = body.items.find(({ name }: { name: string }) => name === "aggregate");
  const outcomeOf = async (...middleware: object[]) => {
    const answer = await api("PATCH", `/endpoints/${uuid}`, { middleware });
    return [answer.status, answer.body.errors?.map(({ path }: { path: string }) => path)];
  };
  expect(await outcomeOf({ use: "rate-limt" })).toEqual([422, ["/middleware/0/use"]]);
  expect(await outcomeOf(...THREE_PER_HOUR, { use: "filter", alow: [] })).toEqual([
    422,
    ["/middleware/1/alow"],
  ]);
  expect(await outcomeOf({ use: "rate-limit", requests: 1 })).toEqual([422, ["/middleware/0/per"]]);
  expect(await outcomeOf({ use: "rate-limit", requests: 1, per: "soon" })).toEqual([
    422,
    ["/middleware/0/per"],
  ]);
  const client = await teamClient(gateway, "aggregate", { key });
  for (let n = 0; n < 6; n += 1) await client.call("fix__echo", { message: `${n}` });
  expect(reached("echo")).toBe(3);
});
