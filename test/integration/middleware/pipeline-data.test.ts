/** Data between clients and servers: redacted, kept apart and cached as the layers say, on every surface. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { mcp } from "../../support/mcp-request.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { until } from "../../support/until.ts";

const MAIL = "ada@example.org";

test("redaction covers arguments, results, errors, logs and records, also with several calls at once", async () => {
  const { gateway, key, api, reached } = await layeredTeam({
    endpoint: {
      openapi: true,
      middleware: [
        { use: "redact", detect: ["email"] },
        { use: "audit", arguments: "full", results: "full" },
      ],
    },
  });
  const logs: string[] = [];
  const client = new Client({ name: "listening", version: "1" });
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logs.push(JSON.stringify(params)),
  );
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/metamcp/aggregate/mcp`), {
    requestInit: { headers: { "x-api-key": key } },
  });
  await client.connect(transport as never);
  await client.setLoggingLevel("debug");
  const call = (name: string, args: object) =>
    client.callTool({ name: `fix__${name}`, arguments: { ...args } }).then(JSON.stringify, String);
  const answers = [
    await call("echo", { message: MAIL }),
    await call("is_error", { message: `no ${MAIL}` }),
    await call("fail", { message: `no ${MAIL}`, data: { who: MAIL } }),
    await call("log", { level: "error", data: `alone ${MAIL}` }),
  ];
  // Two calls of the same client at once, so a log message of the server cannot be attributed to one of them.
  const busy = call("sleep", { ms: 1_000 });
  await until(() => reached("sleep") > 0, { what: "the call at the server" });
  answers.push(...(await Promise.all([call("log", { level: "error", data: `beside ${MAIL}` }), busy])));
  await until(
    () => logs.some((text) => text.includes("beside")) && logs.some((text) => text.includes("alone")),
  );
  const rest = await fetch(`${gateway.url}/metamcp/aggregate/api/fix__fail`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ message: MAIL }),
  });
  answers.push(await rest.text());
  await client.close();
  expect([...answers, ...logs].join("\n")).not.toContain(MAIL);
  expect(answers[0]).toContain("[email]");
  const records = await until(async () => {
    const { body } = await api("GET", "/audit?kind=call&limit=500");
    return body.items.length >= 7 ? JSON.stringify(body) : undefined;
  });
  expect(records).not.toContain(MAIL);
  expect(records).toContain("[email]");
  expect(JSON.stringify((await api("GET", "/calls")).body)).not.toContain(MAIL);
});

test("of duplicate members only the checked one reaches the server", async () => {
  const { gateway, key } = await layeredTeam({
    endpoint: {
      middleware: [
        { use: "policy", rules: [{ effect: "deny", args: { path: { in: ["/no"] } } }], default: "allow" },
        { use: "redact", detect: ["email"] },
      ],
    },
  });
  const session = (await mcp(gateway, "aggregate", { token: key })).headers.get("mcp-session-id") as string;
  const ask = async (method: string, params: string): Promise<string> => {
    const answer = await fetch(`${gateway.url}/metamcp/aggregate/mcp`, {
      method: "POST",
      headers: { ...HEADERS, authorization: `Bearer ${key}`, "mcp-session-id": session },
      body: `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`,
    });
    // The answer is JSON, or the last event of a stream if it took longer.
    const { result } = JSON.parse((await answer.text()).split(/^data: /m).at(-1) as string);
    return result.content ? Buffer.from(result.content[0].text, "base64").toString() : JSON.stringify(result);
  };
  const first = `"arguments":{"path":"/no","who":"${MAIL}"}`;
  const last = '"arguments":{ "path" : "/yes" }';
  expect(await ask("tools/call", `{"name":"fix__args",${first},${last}}`)).toBe(
    '{"name":"args","arguments":{ "path" : "/yes" }}',
  );
  expect(await ask("tools/call", `{"name":"fix__args","\\u0061${first.slice(2)},${last}}`)).not.toContain(
    "/no",
  );
});

test("the flow layer blocks calls after certain reads, in code, chains and direct calls", async () => {
  const { gateway, key, api, reached } = await layeredTeam({
    endpoint: {
      openapi: true,
      middleware: [{ use: "flow", deny: [{ from: "fix:echo", to: "fix:count*" }], by: "session" }],
    },
  });
  const [code, chain, failing] = [
    await teamClient(gateway, "meta", { key }),
    await teamClient(gateway, "metatools", { key }),
    await teamClient(gateway, "aggregate", { key }),
  ];
  const ran = await code.call("mcp_execute", {
    code: `await tools.fix.count({ key: "free" });
      await tools.fix.echo({ message: "private" });
      return await tools.fix.count({ key: "leak" }).catch((error) => error.message);`,
  });
  expect(ran).toContain("fix:count may not run after fix:echo was read");
  const chained = await chain.call("run_chain", {
    steps: [
      { tool_id: "fix:echo", args: { message: "private" } },
      { tool_id: "fix:count_unsafe", args: { key: "leak" } },
    ],
  });
  expect(chained).toMatch(/forbidden/);
  await failing.call("fix__echo", { message: "x" });
  expect(await failing.call("fix__count", { key: "leak" })).toMatch(/forbidden/);
  expect(reached("count")).toBe(1);
  expect(reached("count_unsafe")).toBe(0);
  const [record] = (await api("GET", "/calls?outcome=refused&tool=count")).body.items;
  expect(record).toMatchObject({ by: "flow", read: "fix:echo" });
});

test("a cached answer is shared by all surfaces of a principal, but not with another principal", async () => {
  const { gateway, key, api, reached } = await layeredTeam({
    namespace: {
      tools: [{ server: "fix", tool: "echo", annotations: { readOnlyHint: true, idempotentHint: true } }],
      middleware: [{ use: "cache", ttlMs: "5m" }],
    },
    endpoint: { openapi: true },
  });
  const [meta, aggregate] = [
    await teamClient(gateway, "meta", { key }),
    await teamClient(gateway, "aggregate", { key }),
  ];
  const args = { message: "once" };
  expect(await meta.call("mcp_call", { server: "fix", tool: "echo", args })).toContain("once");
  expect(await aggregate.call("fix__echo", args)).toBe("once");
  expect(
    await meta.call("mcp_execute", { code: `return await tools.fix.echo(${JSON.stringify(args)})` }),
  ).toContain("once");
  expect(reached("echo")).toBe(1);
  const other = await teamClient(gateway, "aggregate", { key: await gateway.key() });
  await other.call("fix__echo", args);
  expect(reached("echo")).toBe(2);
  const [latest] = (await api("GET", "/calls?tool=echo&endpoint=aggregate&limit=2")).body.items;
  expect(latest.layers).toMatchObject([{ use: "cache", outcome: "passed", ms: expect.any(Number) }]);
  const cached = (await api("GET", "/calls?tool=echo")).body.items.filter(
    (one: { cached?: true }) => one.cached,
  );
  expect(cached).toHaveLength(2);
  const wrong = await api("PATCH", "/settings", { middleware: [{ use: "cache", ttlMs: 1 }] });
  expect(wrong.status).toBe(200);
  const { items } = (await api("GET", "/endpoints")).body;
  const inside = await api("PATCH", `/endpoints/${items[0].uuid}`, {
    middleware: [{ use: "filter", deny: ["x"] }],
  });
  expect([inside.status, inside.body.detail]).toEqual([
    422,
    expect.stringMatching(/must be inside "filter"/),
  ]);
});

test("a cached answer is not used after the layers inside the cache changed or at an endpoint with other layers", async () => {
  const annotations = { readOnlyHint: true, idempotentHint: true };
  const { gateway, key, api } = await layeredTeam({
    namespace: { tools: [{ server: "fix", tool: "echo", annotations }] },
  });
  await api("PATCH", "/settings", { middleware: [{ use: "cache", ttlMs: "5m" }] });
  const { items } = (await api("GET", "/endpoints")).body;
  const redact = async (endpoint: string) => {
    const { uuid } = items.find(({ name }: { name: string }) => name === endpoint);
    const layer = { use: "redact", detect: ["email"], in: ["results"] };
    expect((await api("PATCH", `/endpoints/${uuid}`, { middleware: [layer] })).status).toBe(200);
  };
  await redact("aggregate");
  const meta = await teamClient(gateway, "meta", { key });
  const aggregate = await teamClient(gateway, "aggregate", { key });
  const args = { message: MAIL };
  const asked = () => meta.call("mcp_call", { server: "fix", tool: "echo", args });
  expect(await asked()).toBe(MAIL);
  expect(await aggregate.call("fix__echo", args)).toBe("[email]");
  await redact("meta");
  expect(await asked()).toBe("[email]");
});
