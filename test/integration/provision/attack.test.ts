/** Attempts of clients and models to add servers with mcp_provision without permission. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { eachMessage } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { httpGateway, messages } from "../../support/http-gateway.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import { fakeNpx, fakeRegistry, npmEntry } from "../../support/registry.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const WEATHER = npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world.");
const REQUEST = { intent: "weather forecast for a city", autoProvision: true };
const CALL = { method: "tools/call", params: { name: "mcp_provision", arguments: REQUEST } };
const ACCEPT = { action: "accept", content: {} };

interface ProvisionTest {
  readonly folder: Temp;
  /** The environment for a gateway in this folder. */
  readonly env: Record<string, string>;
  /** How many server processes were started. */
  started(): number;
}

async function provisionTest(servers: Record<string, unknown> = {}): Promise<ProvisionTest> {
  const folder = temp();
  folder.writeConfig(servers);
  const { url } = await fakeRegistry([WEATHER]);
  const journal = folder.journal("npx.jsonl");
  const env = {
    ...folder.env,
    PATH: fakeNpx(folder, ["--journal", journal.file]),
    METAMCP_REGISTRY_URL: url,
  } as Record<string, string>;
  return { folder, env, started: () => (existsSync(journal.file) ? journal.events("start").length : 0) };
}

const configured = ({ folder }: ProvisionTest): string[] =>
  Object.keys((JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object }).mcpServers);

test("over HTTP a session cannot answer the question of another session", async () => {
  const set = await provisionTest();
  const server = await httpGateway({ ...set.folder, env: set.env });
  const [asked, other] = [await server.open({ elicitation: {} }), await server.open({ elicitation: {} })];
  const answers: Record<string, unknown>[] = [];
  await eachMessage(await server.post({ id: 1, ...CALL }, asked), async (message) => {
    answers.push(message);
    if (message["method"] !== "elicitation/create") return;
    for (const headers of [other, {}])
      await (await server.post({ id: message["id"], result: ACCEPT }, headers)).text();
    await (await server.post({ id: message["id"], result: { action: "decline" } }, asked)).text();
    await (await server.post({ id: message["id"], result: ACCEPT }, asked)).text();
  });
  const result = answers.at(-1)?.["result"] as Record<string, unknown>;
  expect(JSON.parse(textOf(result)).next).toMatch(/declined weather/);
  expect(configured(set)).toEqual([]);
  expect(set.started()).toBe(0);
  await server.stop();
});

test("a client without a session cannot be asked and gets a plan", async () => {
  const set = await provisionTest();
  const server = await httpGateway({ ...set.folder, env: set.env }, "--stateless");
  const [message] = await messages(await server.post({ id: 1, ...CALL }));
  expect(JSON.parse(textOf(message?.["result"] as never)).next).toMatch(/cannot ask its user/);
  expect(set.started()).toBe(0);
  await server.stop();
});

test("cancelling during the question adds nothing, and a late yes has no effect", async () => {
  const set = await provisionTest();
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  const call = client.request(CALL.method, CALL.params);
  call.catch(() => {});
  await until(() => client.requests.length === 1);
  client.notify("notifications/cancelled", { requestId: client.lastId });
  const late = { jsonrpc: "2.0", id: client.requests[0]?.id, result: ACCEPT };
  client.write(`${JSON.stringify(late)}\n`);
  const plan = JSON.parse(textOf(await client.tool("mcp_provision", { intent: REQUEST.intent })));
  expect(plan.matches).toHaveLength(1);
  expect(configured(set)).toEqual([]);
  expect(set.started()).toBe(0);
  await client.close();
});

test("code and tool calls cannot use mcp_provision", async () => {
  const set = await provisionTest({ a: fixture() });
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  client.reply = () => ({ result: ACCEPT });
  for (const tool of ["mcp_provision", "provision"]) {
    const failure = failureOf(await client.mcpCall("metamcp", tool, REQUEST));
    expect(failure.code).toMatch(/not_found/);
  }
  const code = `const want = ${JSON.stringify(REQUEST)};
    const ways = [
      () => tools.metamcp.mcp_provision(want),
      () => tools.metamcp.provision(want),
      () => servers.metamcp.call("mcp_provision", want),
      () => servers.a.call("mcp_provision", want),
    ];
    const said = [];
    for (const way of ways) said.push(await Promise.resolve().then(way).then(() => "done", () => "refused"));
    return said.join();`;
  expect(textOf(await client.tool("mcp_execute", { code }))).toContain("refused,refused,refused,refused");
  expect(client.requests).toEqual([]);
  expect(set.started()).toBe(0);
  await client.close();
});

test("with a home that cannot be written mcp_provision shows matches and adds nothing", async () => {
  const set = await provisionTest();
  mkdirSync(dirname(set.folder.home), { recursive: true });
  writeFileSync(set.folder.home, "a file, not a folder");
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  client.reply = () => ({ result: ACCEPT });
  const answer = JSON.parse(textOf(await client.tool("mcp_provision", REQUEST)));
  expect(answer).toMatchObject({
    matches: [{ name: "weather" }],
    next: expect.stringMatching(/Nothing can be added/),
  });
  expect(configured(set)).toEqual([]);
  await client.close();
});
