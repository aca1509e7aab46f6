/** mcp_provision in the hands of clients and models that want more than they may have. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { eachMessage } from "../support/eras.ts";
import { gateway } from "../support/gateway.ts";
import { httpGateway, messages } from "../support/http-gateway.ts";
import { failureOf, textOf } from "../support/meta.ts";
import { fakeNpx, fakeRegistry, npmEntry } from "../support/registry.ts";
import { fixture, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const WEATHER = npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world.");
const WANT = { intent: "weather forecast for a city", autoProvision: true };
const CALL = { method: "tools/call", params: { name: "mcp_provision", arguments: WANT } };
const ACCEPT = { action: "accept", content: {} };

interface Setting {
  readonly folder: Temp;
  /** What a gateway in this folder is started with. */
  readonly env: Record<string, string>;
  /** How often any server was started. */
  started(): number;
}

async function setting(servers: Record<string, unknown> = {}): Promise<Setting> {
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

const configured = ({ folder }: Setting): string[] =>
  Object.keys((JSON.parse(readFileSync(folder.config, "utf8")) as { mcpServers: object }).mcpServers);

test("over HTTP nobody answers for another", async () => {
  const set = await setting();
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

test("a client without a session cannot be asked, and gets a plan", async () => {
  const set = await setting();
  const server = await httpGateway({ ...set.folder, env: set.env }, "--stateless");
  const [message] = await messages(await server.post({ id: 1, ...CALL }));
  expect(JSON.parse(textOf(message?.["result"] as never)).next).toMatch(/cannot ask its user/);
  expect(set.started()).toBe(0);
  await server.stop();
});

test("whoever cancels while the person thinks has said no, and a late yes changes nothing", async () => {
  const set = await setting();
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  const call = client.request(CALL.method, CALL.params);
  call.catch(() => {});
  await until(() => client.requests.length === 1);
  client.notify("notifications/cancelled", { requestId: client.lastId });
  const late = { jsonrpc: "2.0", id: client.requests[0]?.id, result: ACCEPT };
  client.write(`${JSON.stringify(late)}\n`);
  const plan = JSON.parse(textOf(await client.tool("mcp_provision", { intent: WANT.intent })));
  expect(plan.matches).toHaveLength(1);
  expect(configured(set)).toEqual([]);
  expect(set.started()).toBe(0);
  await client.close();
});

test("code and calls have no way to it", async () => {
  const set = await setting({ a: fixture() });
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  client.reply = () => ({ result: ACCEPT });
  for (const tool of ["mcp_provision", "provision"]) {
    const failure = failureOf(await client.mcpCall("metamcp", tool, WANT));
    expect(failure.code).toMatch(/not_found/);
  }
  const code = `const want = ${JSON.stringify(WANT)};
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

test("a home that cannot be written to shows what there is, and adds nothing", async () => {
  const set = await setting();
  mkdirSync(dirname(set.folder.home), { recursive: true });
  writeFileSync(set.folder.home, "a file, not a folder");
  const client = gateway(set.folder, { env: set.env });
  await client.initialize({ elicitation: {} });
  client.reply = () => ({ result: ACCEPT });
  const answer = JSON.parse(textOf(await client.tool("mcp_provision", WANT)));
  expect(answer).toMatchObject({
    matches: [{ name: "weather" }],
    next: expect.stringMatching(/Nothing can be added/),
  });
  expect(configured(set)).toEqual([]);
  await client.close();
});
