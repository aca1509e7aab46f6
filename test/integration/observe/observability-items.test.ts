/** Prompts and resources that clients use are recorded, counted, shown and traced like tool calls. */
import { expect, test } from "vitest";
import { eachMessage, envelope, era2026Headers } from "../../support/eras.ts";
import { HEADERS, messages } from "../../support/http-gateway.ts";
import { collector } from "../../support/otlp.ts";
import { auditRecords } from "../../support/records.ts";
import { type TeamGateway, teamGateway } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";
import { watchEvents } from "../../support/watch-events.ts";

const LIMIT = { use: "rate-limit", requests: 3, per: "1h" };

/** A session that can send any request. */
async function openSession({ url }: TeamGateway, endpoint: string, key: string) {
  let id = 0;
  let session: Record<string, string> = {};
  const ask = async (method: string, params: object) => {
    const answer = await fetch(`${url}/metamcp/${endpoint}/mcp`, {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": key, ...session },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }),
    });
    session = { "mcp-session-id": answer.headers.get("mcp-session-id") ?? session["mcp-session-id"] ?? "" };
    const [told] = await messages(answer);
    return told as { result?: Record<string, unknown>; error?: { message: string } };
  };
  const clientInfo = { name: "asker", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  return ask;
}

async function team(env: Readonly<Record<string, string>> = {}) {
  const gateway = await teamGateway(temp(), { env });
  const { api } = gateway;
  const server = { name: "fix", ...fixture("--resources", "2", "--prompts", "1") };
  const { uuid } = (await api("POST", "/mcp-servers", server)).body;
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const surface of ["aggregate", "meta"])
    await api("POST", "/endpoints", { name: surface, namespaces: ["team"], surface });
  await api("POST", "/endpoints", {
    name: "few",
    namespaces: ["team"],
    surface: "aggregate",
    middleware: [LIMIT],
  });
  return { gateway, api, uuid, key: await gateway.key() };
}

const READ = { method: "resources/read", tool: "fixture://item/0" };

test("a resource of a hidden server gives the same error as an unknown one", async () => {
  const { gateway, api, key } = await team();
  await api("POST", "/namespaces", { name: "none" });
  await api("POST", "/endpoints", { name: "empty", namespaces: ["none"], surface: "aggregate" });
  await api("POST", "/endpoints", {
    name: "kept",
    namespaces: ["team"],
    surface: "aggregate",
    middleware: [{ use: "policy", rules: [] }],
  });
  const [empty, kept] = [await openSession(gateway, "empty", key), await openSession(gateway, "kept", key)];
  for (const uri of ["fixture://item/0", "fixture://none", "metamcp://server/fix/fixture%3A%2F%2Fitem%2F0"])
    expect((await kept("resources/read", { uri })).error).toEqual(
      (await empty("resources/read", { uri })).error,
    );
});

test("each prompt and resource request has one record and is counted by its method", async () => {
  const { gateway, uuid, key } = await team();
  const aggregate = await openSession(gateway, "aggregate", key);
  expect(await aggregate("resources/read", { uri: "fixture://item/0" })).toHaveProperty("result");
  const { result } = await aggregate("prompts/list", {});
  const name = (result?.["prompts"] as { name: string }[] | undefined)?.[0]?.name;
  expect(await aggregate("prompts/get", { name, arguments: { topic: "x" } })).toHaveProperty("result");
  expect(await aggregate("prompts/get", { name: "nothing" })).toHaveProperty("error");
  const meta = await openSession(gateway, "meta", key);
  expect(await meta("resources/read", { uri: "fixture://item/0" })).toHaveProperty("result");

  const records = await until(async () => {
    const all = await auditRecords(gateway, "&kind=call");
    return all.length >= 4 && all;
  });
  const server = { uuid, name: "fix" };
  expect(records).toMatchObject([
    { ...READ, server, surface: "aggregate", outcome: "ok", client: { name: "asker" } },
    { method: "prompts/get", tool: "prompt_0", server, outcome: "ok", arguments: ["topic"] },
    { method: "prompts/get", tool: "nothing", outcome: "refused", code: "validation_input" },
    { ...READ, server, surface: "meta", outcome: "ok" },
  ]);
  expect(await auditRecords(gateway, "&method=resources/read")).toHaveLength(2);

  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const took = 'mcp_server_operation_duration_seconds_count{endpoint="aggregate",server="fix"';
  expect(text).toContain(`${took},mcp_method_name="resources/read"} 1\n`);
  expect(text).toContain("metamcp_calls_in_flight 0\n");
  const counted = (endpoint: string, tool: string, outcome: string, server = "fix") =>
    `metamcp_calls_total{endpoint="${endpoint}",server="${server}",tool="${tool}",outcome="${outcome}"} 1\n`;
  expect(text).toContain(counted("aggregate", "resources/read", "ok"));
  expect(text).toContain(counted("meta", "resources/read", "ok"));
  expect(text).toContain(counted("aggregate", "prompts/get", "ok"));
  expect(text).toContain(counted("aggregate", "prompts/get", "refused", "other"));
  expect(text).toContain('metamcp_call_errors_total{endpoint="aggregate",code="validation_input"} 1\n');
  // A series per prompt or resource would be too many.
  for (const one of ["fixture://", "prompt_0", "nothing"]) expect(text).not.toContain(one);
});

test("live views show the prompt or resource, and statistics show its method", async () => {
  const { gateway, api, uuid, key } = await team();
  const events = await watchEvents(gateway);
  const aggregate = await openSession(gateway, "aggregate", key);
  for (let n = 0; n < 3; n++) await aggregate("resources/read", { uri: "fixture://item/0" });
  await aggregate("prompts/get", { name: "fix__prompt_0", arguments: { topic: "x" } });
  const server = { uuid, name: "fix" };
  const prompt = { method: "prompts/get", tool: "prompt_0", server, outcome: "ok" };
  const calls = await until(() => {
    const seen = events.filter(({ type }) => type === "call");
    return seen.length === 4 && seen;
  });
  expect(calls.at(-1)).toMatchObject(prompt);

  const { items } = (await api("GET", "/calls")).body;
  expect(items).toMatchObject([{ ...prompt, arguments: { topic: "x" } }, READ, READ, READ]);
  expect((await api("GET", "/calls?method=prompts/get")).body.items).toHaveLength(1);
  expect((await api("GET", "/calls?method=tools/call")).body.items).toEqual([]);
  const again = await api("POST", `/calls/${items[0].id}/replay`);
  expect([again.status, again.body.detail]).toEqual([409, "only tool calls can be repeated"]);

  const { totals, rows } = (await api("GET", "/stats?by=tool")).body;
  expect(totals).toMatchObject({ calls: 4, errors: 0, refused: 0 });
  expect(rows).toMatchObject([
    { server, tool: "resources/read", method: "resources/read", calls: 3 },
    { server, tool: "prompts/get", method: "prompts/get", calls: 1 },
  ]);
  const { body: tools } = await api("GET", `/mcp-servers/${uuid}/tools`);
  expect(JSON.stringify(tools)).not.toContain("resources/read");
});

test("a refusal names the layer", async () => {
  const { gateway, key } = await team();
  const few = await openSession(gateway, "few", key);
  for (let n = 0; n < 3; n++) await few("resources/read", { uri: "fixture://item/0" });
  expect(await few("resources/read", { uri: "fixture://item/1" })).toHaveProperty("error");
  const [record] = await until(async () => {
    const found = await auditRecords(gateway, "&outcome=refused");
    return found.length > 0 && found;
  });
  expect(record).toMatchObject({
    ...READ,
    tool: "fixture://item/1",
    by: "rate-limit",
    code: "rate_limited",
  });
});

const EXEC = "custom/exec";

/**
 * A gateway whose only server answers completions and a method of its own, with one endpoint for each
 * pipeline.
 */
async function otherTeam(endpoints: Readonly<Record<string, readonly object[]>>) {
  const folder = temp();
  const answers = folder.write(
    "answers.json",
    JSON.stringify({ [EXEC]: { done: true }, "completion/complete": { completion: { values: ["a"] } } }),
  );
  const journal = folder.journal();
  const gateway = await teamGateway(folder);
  const { api } = gateway;
  const flags = ["--resources", "20", "--prompts", "1", "--answers", answers, "--journal", journal.file];
  await api("POST", "/mcp-servers", { name: "fix", ...fixture(...flags) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  for (const [name, middleware] of Object.entries(endpoints))
    await api("POST", "/endpoints", { name, namespaces: ["team"], surface: "aggregate", middleware });
  const reached = (method: string) =>
    journal.events("message").filter((event) => event.method === method).length;
  return { gateway, api, key: await gateway.key(), reached };
}

const COMPLETION = {
  ref: { type: "ref/prompt", name: "fix__prompt_0" },
  argument: { name: "topic", value: "free text" },
};

test("completions, subscriptions, unknown methods and unknown names are counted and recorded", async () => {
  const { gateway, key, reached } = await otherTeam({ few: [LIMIT], named: [LIMIT] });
  const few = await openSession(gateway, "few", key);
  expect(await few("completion/complete", COMPLETION)).toHaveProperty("result");
  expect(await few("resources/subscribe", { uri: "fixture://item/0" })).toHaveProperty("result");
  expect(await few(EXEC, { command: "x" })).toHaveProperty("result");
  for (let n = 0; n < 3; n++) {
    expect(await few("completion/complete", COMPLETION)).toHaveProperty("error");
    expect(await few("resources/subscribe", { uri: "fixture://item/1" })).toHaveProperty("error");
    expect(await few(EXEC, { command: "x" })).toHaveProperty("error");
  }
  expect(await few("resources/unsubscribe", { uri: "fixture://item/0" })).toHaveProperty("result");
  for (const method of ["completion/complete", "resources/subscribe", EXEC]) expect(reached(method)).toBe(1);
  const records = await auditRecords(gateway, "&kind=call&outcome=ok", 3);
  expect(records).toMatchObject([
    { method: "completion/complete", tool: "prompt_0", server: { name: "fix" } },
    { method: "resources/subscribe", tool: "fixture://item/0", server: { name: "fix" } },
    { method: "other", tool: EXEC, server: { name: "fix" }, arguments: ["command"] },
  ]);

  const named = await openSession(gateway, "named", key);
  const call = (name: string) => named("tools/call", { name, arguments: { message: "x" } });
  for (let n = 0; n < 3; n++) await call(`nothing_${n}`);
  const { result } = await call("fix__echo");
  expect([result?.["isError"], JSON.stringify(result)]).toEqual([
    true,
    expect.stringContaining("rate_limited"),
  ]);
  expect(JSON.stringify(await call("nothing_4"))).toContain("rate_limited");
});

test("a listener subscribes under the limits, one resource after the other", async () => {
  const { gateway, key, reached } = await otherTeam({ few: [LIMIT] });
  const uris = Array.from({ length: 20 }, (_, n) => `fixture://item/${n}`);
  const params = { _meta: envelope({}), notifications: { resourceSubscriptions: uris } };
  const stop = new AbortController();
  const response = await fetch(`${gateway.url}/metamcp/few/mcp`, {
    method: "POST",
    headers: { ...HEADERS, "x-api-key": key, ...era2026Headers("subscriptions/listen", params) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }),
    signal: stop.signal,
  });
  const received: unknown[] = [];
  await eachMessage(response, (message) => {
    received.push(message);
    stop.abort();
  }).catch(() => {});
  expect(received).toMatchObject([
    { params: { notifications: { resourceSubscriptions: uris.slice(0, 3) } } },
  ]);
  expect(reached("resources/subscribe")).toBe(3);
});

test("an unknown method reaches the server only where the rules allow a tool of that name that may write", async () => {
  const allow = (...tools: readonly string[]) => ({ use: "policy", rules: [{ effect: "allow", tools }] });
  const refusing = {
    listed: [allow("fix:echo")],
    filtered: [{ use: "filter", allow: ["fix:echo"] }],
    reading: [{ use: "filter", readOnly: true }],
    asking: [{ use: "ask", tools: ["fix:*"] }],
    approving: [{ use: "policy", rules: [{ effect: "approve", tools: ["fix:*"] }] }],
    arguing: [
      { use: "policy", default: "allow", rules: [{ effect: "deny", args: { command: { glob: "x*" } } }] },
    ],
  };
  const { gateway, api, key, reached } = await otherTeam({ ...refusing, open: [], all: [allow("fix:*")] });
  const exec = async (endpoint: string, credential = key) =>
    await (await openSession(gateway, endpoint, credential))(EXEC, { command: "xyz" });
  for (const endpoint of Object.keys(refusing))
    expect([endpoint, await exec(endpoint)]).toEqual([
      endpoint,
      expect.objectContaining({ error: { code: -32601, message: `Method not found: ${EXEC}` } }),
    ]);
  const reader = await api("POST", "/api-keys", { name: "r", endpoints: "all", tiers: ["readOnly"] });
  expect(await exec("open", reader.body.key)).toHaveProperty("error");
  expect(reached(EXEC)).toBe(0);
  for (const endpoint of ["open", "all"]) expect(await exec(endpoint)).toHaveProperty("result");
  expect(reached(EXEC)).toBe(2);
  const refused = await auditRecords(gateway, "&kind=call&outcome=refused&method=other");
  expect(refused.length).toBeGreaterThan(0);
});

test("each prompt and resource request has a span for the client and one for the server", async () => {
  const traces = await collector();
  const { gateway, key } = await team({ OTEL_EXPORTER_OTLP_ENDPOINT: traces.url });
  const aggregate = await openSession(gateway, "aggregate", key);
  await aggregate("resources/read", { uri: "fixture://item/0" });
  await until(() => traces.spans.length >= 2);
  expect(traces.spans.map(({ name }) => name)).toEqual(["resources/read", "resources/read"]);
  const [own, child] = traces.spans;
  expect(own?.about).toMatchObject({
    "mcp.method.name": "resources/read",
    "mcp.resource.uri": "fixture://item/0",
    "jsonrpc.request.id": "2",
    "network.transport": "tcp",
  });
  expect(own?.about).not.toHaveProperty("gen_ai.tool.name");
  expect(child?.about).toMatchObject({ "metamcp.server": "fix", "network.transport": "pipe" });
});
