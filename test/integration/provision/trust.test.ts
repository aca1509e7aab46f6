/** Which servers mcp_provision installs: trusted ones, those that a person accepts, and never denied ones. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { WHY_NOT } from "../../support/confined.ts";
import { CLIENTS, open as openClient } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { textOf } from "../../support/meta.ts";
import {
  CRAWLER,
  configOf,
  journalOf,
  openGateway,
  provision,
  started,
  trust,
  WEATHER,
} from "../../support/provisioning.ts";
import { fakeNpx, fakeRegistry, npmEntry } from "../../support/registry.ts";
import { temp } from "../../support/temp.ts";

test("without trusted publishers no server is installed", async () => {
  const folder = temp();
  const entry = npmEntry("io.github.microsoft/weather", WEATHER.description ?? "");
  const { url } = await fakeRegistry([entry]);
  const client = await openGateway(folder, { url });
  const answer = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(answer).toMatchObject({ source: "registry", matches: [{ id: entry.name, trust: "unknown" }] });
  expect(answer.installed).toBeUndefined();
  expect(answer.next).toMatch(/metamcp trust add io\.github\.microsoft\/weather/);
  expect(started(folder)).toBe(0);
  expect(existsSync(folder.config)).toBe(false);
  await client.close();
});

test("for an untrusted server the person is asked with the exact command", async () => {
  const folder = temp();
  folder.writeConfig({});
  const { url } = await fakeRegistry([WEATHER]);
  const client = await openGateway(folder, { url, capabilities: { elicitation: {} } });
  client.reply = () => ({ result: { action: "decline" } });
  const no = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(no.next).toMatch(/declined weather/);
  expect([started(folder), configOf(folder).mcpServers]).toEqual([0, {}]);
  const { message } = client.requests[0]?.params as { message: string };
  expect(message).toContain('["npx","-y","@fixture/weather@1.2.3"]');
  expect(message).toContain(WEATHER.name);

  client.reply = () => ({ result: { action: "accept" } });
  expect(await provision(client, "weather forecast for a city", { autoProvision: true })).toMatchObject({
    installed: "weather",
  });
  expect(journalOf(folder).events("start")[0]).toMatchObject({
    argv: expect.arrayContaining(["-y", "@fixture/weather@1.2.3"]),
  });
  await client.close();

  const unable = await openGateway(temp(), { url });
  expect((await provision(unable, "weather forecast for a city", { autoProvision: true })).next).toMatch(
    /trust add .*cannot ask/,
  );
  await unable.close();
});

test.each(CLIENTS)("a %s client can accept the question", async (kind) => {
  const folder = temp();
  folder.writeConfig({});
  const { url } = await fakeRegistry([WEATHER]);
  const PATH = fakeNpx(folder, ["--journal", journalOf(folder).file]);
  const env = { ...folder.env, PATH, METAMCP_REGISTRY_URL: url };
  const driver = await openClient(kind, { ...folder, env }, { elicitation: {} });
  const asked: unknown[] = [];
  const params = {
    name: "mcp_provision",
    arguments: { intent: "weather forecast for a city", autoProvision: true },
  };
  const { result } = await driver.request("tools/call", params, (question) => {
    asked.push(question.params?.["message"]);
    return { action: "accept", content: {} };
  });
  expect(JSON.parse(textOf(result ?? {}))).toMatchObject({ installed: "weather" });
  expect(asked).toEqual([expect.stringContaining("@fixture/weather@1.2.3")]);
  expect(started(folder)).toBe(2);
  await driver.close();
});

test.each(CLIENTS.filter((kind) => kind.includes("2026")))(
  "a %s client cannot send an answer before the question",
  async (kind) => {
    const folder = temp();
    folder.writeConfig({});
    const { url } = await fakeRegistry([WEATHER]);
    const env = { ...folder.env, PATH: fakeNpx(folder, []), METAMCP_REGISTRY_URL: url };
    const driver = await openClient(kind, { ...folder, env }, { elicitation: {} });
    const asked: unknown[] = [];
    const yes = { action: "accept", content: {} };
    const params = {
      name: "mcp_provision",
      arguments: { intent: "weather forecast for a city", autoProvision: true },
      inputResponses: { "elicitation-1": yes, "elicitation-2": yes },
    };
    const { result } = await driver.request("tools/call", params, (question) => {
      asked.push(question.params?.["message"]);
      return { action: "decline" };
    });
    expect(asked).toHaveLength(1);
    expect(JSON.parse(textOf(result ?? {}))).toMatchObject({ next: expect.stringMatching(/declined/) });
    await driver.close();
  },
);

test("denied servers and servers with missing values are neither asked for nor started", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder, { allow: ["io.github.fixture/*"], deny: ["@fixture/weather"] });
  const { url } = await fakeRegistry([WEATHER, CRAWLER]);
  const client = await openGateway(folder, { url, capabilities: { elicitation: {} } });
  client.reply = () => ({ result: { action: "accept" } });
  const denied = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(denied.matches?.[0]).toMatchObject({ id: WEATHER.name, trust: "denied" });
  const incomplete = await provision(client, "crawl a website and extract links", { autoProvision: true });
  expect(incomplete).toMatchObject({
    matches: [{ missing: ["CRAWL_KEY"] }],
    next: expect.stringMatching(/set CRAWL_KEY/),
  });
  expect([client.requests, started(folder), configOf(folder).mcpServers]).toEqual([[], 0, {}]);
  await client.close();
});

test("metamcp trust manages the trusted publishers", async () => {
  const folder = temp();
  const listed = await metamcp(folder, ["trust", "list"]);
  expect(listed).toMatchObject({ code: 0, err: "", out: expect.stringMatching(/^You trust no publishers/) });
  expect((await metamcp(folder, ["trust", "add", "@me/*", "io.github.me/x"])).code).toBe(0);
  expect((await metamcp(folder, ["trust", "add", "--deny", "@evil/*"])).out).toMatch(/@evil\/\* +denied/);
  expect((await metamcp(folder, ["trust", "remove", "io.github.me/x"])).code).toBe(0);
  const { out } = await metamcp(folder, ["trust", "list", "--json"]);
  expect(JSON.parse(out)).toMatchObject({ allow: expect.arrayContaining(["@me/*"]), deny: ["@evil/*"] });
  for (const wrong of [
    ["trust", "add"],
    ["trust", "add", "*"],
    ["trust", "ad", "x"],
  ])
    expect((await metamcp(folder, wrong)).code, wrong.join(" ")).toBe(2);
  expect(await metamcp(folder, ["trust", "remove", "@mee/*"])).toMatchObject({
    code: 1,
    err: expect.stringContaining('"@mee/*" is not on the list. Did you mean "@me/*"?'),
  });
  writeFileSync(join(folder.home, "trusted-servers.json"), "[");
  const broken = await metamcp(folder, ["trust", "add", "@me/*"]);
  expect(broken).toMatchObject({
    code: 1,
    err: expect.stringMatching(/trusted-servers\.json:1:2: .*no publisher is trusted/),
  });
  expect(readFileSync(join(folder.home, "trusted-servers.json"), "utf8")).toBe("[");
});

test.skipIf(WHY_NOT !== undefined)(
  `a new server is confined, and the plan and the question say what it may touch${WHY_NOT ? ` (skipped: ${WHY_NOT})` : ""}`,
  async () => {
    const folder = temp();
    const { url } = await fakeRegistry([WEATHER]);
    const client = gateway(folder, { flags: ["--registry-url", url] });
    await client.initialize({ elicitation: {} });
    client.reply = () => ({ result: { action: "decline" } });
    const found = await provision(client, "weather forecast for a city");
    expect(found.matches?.[0]).toMatchObject({
      sandbox: true,
      touches: "writes a private folder; network: any",
    });
    await provision(client, "weather forecast for a city", { autoProvision: true });
    const { message } = client.requests[0]?.params as { message: string };
    expect(message).toContain("It may touch: writes a private folder; network: any");

    // A sandbox for all servers is not widened.
    folder.write(".mcp.json", '{ "sandbox": { "network": "none" }, "mcpServers": {} }');
    const again = await provision(client, "weather forecast for a city");
    expect(again.matches?.[0]).not.toHaveProperty("sandbox");
    expect(again.matches?.[0]).toMatchObject({ touches: expect.stringContaining("for all servers") });
    await client.close();
  },
);
