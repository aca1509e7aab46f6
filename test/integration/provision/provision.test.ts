// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them
/**
 * From a task in plain words to a running server: a trusted server is tried, written into the config and
 * started.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { discover, failureOf, startedBy, textOf } from "../../support/meta.ts";
import {
  CRAWLER,
  configOf,
  openGateway,
  provision,
  started,
  trust,
  WEATHER,
} from "../../support/provisioning.ts";
import { fakeRegistry, fixtureBundle, npmEntry, type RegistryEntry } from "../../support/registry.ts";
import { FIXTURE_TOOLS, fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const PAGER = npmEntry("io.github.fixture/pager", "Call the person on duty and escalate incidents.");

test("mcp_provision returns a local tool if one fits, otherwise a server from the registry", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const { url } = await fakeRegistry([WEATHER, CRAWLER, PAGER]);
  const client = await openGateway(folder, { url });
  expect(await provision(client, "add two numbers")).toMatchObject({
    source: "local",
    tools: [{ tool: "add", server: "a" }],
  });
  const found = await provision(client, "crawl a website and extract links");
  expect(found).toMatchObject({
    source: "registry",
    matches: [
      {
        id: CRAWLER.name,
        from: "registry",
        version: "1.2.3",
        runs: ["npx", "-y", "@fixture/crawler@1.2.3"],
        missing: ["CRAWL_KEY"],
        trust: "unknown",
      },
    ],
  });
  expect(found.matches?.map(({ id }) => id)).not.toContain(WEATHER.name);
  expect(started(folder)).toBe(0);
  expect(existsSync(join(folder.home, "trusted-servers.json"))).toBe(false);
  await client.close();
});

test("a trusted server is installed, started, written into the config and callable", async () => {
  const folder = temp();
  folder.write(
    ".mcp.json",
    '{\n  // mine\n  "mcpServers": {\n    "weather": { "command": "x", "disabled": true } // off\n  }\n}\n',
  );
  const before = readFileSync(folder.config, "utf8");
  trust(folder);
  const { url } = await fakeRegistry([WEATHER, CRAWLER, PAGER]);
  const client = await openGateway(folder, { url });
  const meta = { progressToken: "p" };
  const answer = await provision(client, "weather forecast for a city", { autoProvision: true }, meta);
  expect(answer).toMatchObject({ source: "registry", installed: "weather-2" });
  expect(answer.tools).toHaveLength(FIXTURE_TOOLS);
  const progress = client.notifications.filter(({ method }) => method === "notifications/progress");
  expect(progress.map(({ params }) => params)).toContainEqual(
    expect.objectContaining({ progressToken: "p", message: expect.stringMatching(/^installing weather/) }),
  );

  expect(textOf(await client.mcpCall("weather-2", "echo", { message: "hi" }))).toBe("hi");
  const { servers } = await discover(client);
  expect(servers).toMatchObject([{ name: "weather-2", connected: true, toolCount: FIXTURE_TOOLS }]);
  const after = readFileSync(folder.config, "utf8");
  expect(after).toMatch(/\/\/ mine[\s\S]*\/\/ off/);
  expect(configOf(folder).mcpServers["weather-2"]).toEqual({
    command: "npx",
    args: ["-y", "@fixture/weather@1.2.3"],
  });
  const copies = readdirSync(join(folder.home, "backups"));
  expect(copies.map((copy) => readFileSync(join(folder.home, "backups", copy), "utf8"))).toEqual([before]);

  expect(startedBy(client)).toHaveLength(1);
  expect(await provision(client, "weather forecast for a city")).toMatchObject({
    matches: [{ configured: "weather-2" }],
    next: expect.stringContaining('{server: "weather-2"}'),
  });
  const again = await provision(client, "io.github.fixture/weather", { autoProvision: true });
  expect(again).toMatchObject({ installed: "weather-2" });
  await client.close();
});

test("concurrent requests install one server and create the config", async () => {
  const folder = temp();
  trust(folder);
  const { url } = await fakeRegistry([WEATHER]);
  const client = await openGateway(folder, { url });
  const answers = await Promise.all(
    [1, 2, 3].map(() => provision(client, "weather forecast for a city", { autoProvision: true })),
  );
  expect(answers.map(({ installed }) => installed)).toEqual(["weather", "weather", "weather"]);
  expect(Object.keys(configOf(folder).mcpServers)).toEqual(["weather"]);
  expect(statSync(folder.config).mode & 0o777).toBe(0o600);
  // Once for the trial and once for use.
  expect(started(folder)).toBe(2);
  await client.close();
});

test("a secret from the environment reaches only the server", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder);
  const { url } = await fakeRegistry([CRAWLER]);
  const secret = "s3cr3t-of-the-crawler";
  const client = await openGateway(folder, { url, env: { CRAWL_KEY: secret } });
  const answer = await provision(client, "crawl a website and extract links", { autoProvision: true });
  expect(answer).toMatchObject({ installed: "crawler" });
  expect(JSON.stringify(answer)).not.toContain(secret);
  expect(readFileSync(folder.config, "utf8")).not.toContain(secret);
  expect(configOf(folder).mcpServers["crawler"]).toMatchObject({ env: { CRAWL_KEY: "${CRAWL_KEY}" } });
  expect(textOf(await client.mcpCall("crawler", "env", { names: ["CRAWL_KEY"] }))).toContain(secret);
  await client.close();
  expect(client.stderr).not.toContain(secret);
});

test("a server that does not start leaves the config unchanged and gives the reason", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const before = readFileSync(folder.config, "utf8");
  trust(folder);
  const { url } = await fakeRegistry([WEATHER]);
  const client = await openGateway(folder, { url, script: "echo no such city >&2; exit 7" });
  const failure = failureOf(
    await client.tool("mcp_provision", { intent: "weather forecast for a city", autoProvision: true }),
  );
  expect(failure).toMatchObject({ code: "server_unavailable", retryable: false });
  expect(failure.message).toMatch(/nothing was written.*code 7.*no such city/s);
  expect(readFileSync(folder.config, "utf8")).toBe(before);
  expect(existsSync(join(folder.home, "backups"))).toBe(false);
  await client.close();
});

test("a bundle is downloaded, checked against its checksum and run from its folder", async () => {
  const bundle = fixtureBundle();
  const entry = (name: string, fileSha256: string): RegistryEntry => ({
    ...WEATHER,
    name,
    packages: [
      {
        registryType: "mcpb",
        identifier: "http://registry.test/weather.mcpb",
        fileSha256,
        transport: { type: "stdio" },
      },
    ],
  });
  const sha256 = createHash("sha256").update(bundle).digest("hex");
  const { url } = await fakeRegistry(
    [entry("io.github.fixture/right", sha256), entry("io.github.fixture/wrong", "0".repeat(64))],
    { "/weather.mcpb": bundle },
  );
  const folder = temp();
  trust(folder);
  const client = await openGateway(folder, { url });
  const wrong = await client.tool("mcp_provision", {
    intent: "io.github.fixture/wrong",
    autoProvision: true,
  });
  expect(failureOf(wrong).message).toMatch(/nothing was written: .*checksum/);
  expect(existsSync(folder.config)).toBe(false);
  expect(await provision(client, "io.github.fixture/right")).toMatchObject({
    matches: [{ bundle: { sha256 } }],
  });
  const right = await provision(client, "io.github.fixture/right", { autoProvision: true });
  expect(right).toMatchObject({ installed: "right" });
  expect(textOf(await client.mcpCall("right", "echo", { message: "hi" }))).toBe("hi");
  expect(JSON.stringify(configOf(folder).mcpServers["right"])).toContain(join(folder.home, "bundles"));
  await client.close();
});

test("cancelling ends the trial of a server", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder);
  const { url } = await fakeRegistry([WEATHER]);
  const client = await openGateway(folder, { url, flags: ["--no-initialize"] });
  client
    .tool("mcp_provision", { intent: "weather forecast for a city", autoProvision: true })
    .catch(() => {});
  const id = client.lastId;
  await until(() => startedBy(client).length === 1, { what: "the trial" });
  client.notify("notifications/cancelled", { requestId: id });
  await until(() => startedBy(client).length === 0, { what: "its end" });
  expect(configOf(folder).mcpServers).toEqual({});
  await client.close();
});

test("after a kill the config is complete, either the old or the new one", async () => {
  const { url } = await fakeRegistry([WEATHER]);
  for (const stage of [0, 1, 2, 3]) {
    const folder = temp();
    folder.writeConfig({ a: fixture(), filler: { command: "x".repeat(50_000), disabled: true } });
    trust(folder);
    const client = await openGateway(folder, { url });
    client
      .tool("mcp_provision", { intent: "weather forecast for a city", autoProvision: true })
      .catch(() => {});
    // Kills at the start of the trial, and later in each round.
    await until(() => started(folder) > 0, { what: "the trial" });
    await until(() => stage === 0 || existsSync(join(folder.home, stage === 1 ? "locks" : "backups")), {
      what: "the edit",
    });
    if (stage === 3) await until(() => started(folder) > 1, { what: "the server itself" });
    client.kill("SIGKILL");
    await client.exited;
    expect(["a,filler", "a,filler,weather"]).toContain(Object.keys(configOf(folder).mcpServers).join());
  }
});
