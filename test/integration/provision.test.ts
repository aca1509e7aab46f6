// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configs hold them
/** From a task in plain words to a running server, with a real client and a local registry. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../support/command.ts";
import { CLIENTS, open as openClient } from "../support/eras.ts";
import { gateway } from "../support/gateway.ts";
import { discover, failureOf, startedBy, textOf } from "../support/meta.ts";
import type { RawClient } from "../support/raw-client.ts";
import { fakeNpx, fakeRegistry, fixtureBundle, npmEntry, type RegistryEntry } from "../support/registry.ts";
import { FIXTURE_TOOLS, fixture, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const WEATHER = npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world.");
const CRAWLER = npmEntry("io.github.fixture/crawler", "Crawl a website page by page and extract its links.", {
  environmentVariables: [
    { name: "CRAWL_KEY", description: "Key of the crawler.", isRequired: true, isSecret: true },
  ],
});
const PAGER = npmEntry("io.github.fixture/pager", "Call the person on duty and escalate incidents.");

interface Provisioned {
  readonly source: string;
  readonly tools?: readonly { readonly tool: string }[];
  readonly matches?: readonly Record<string, unknown>[];
  readonly installed?: string;
  readonly next?: string;
  readonly notice?: string;
  readonly message?: string;
}

interface Setting {
  readonly url: string;
  readonly capabilities?: object;
  readonly flags?: readonly string[];
  /** A script for `npx` to run instead of the fixture server. */
  readonly script?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const journalOf = (folder: Temp) => folder.journal("npx.jsonl");

async function open(folder: Temp, setting: Setting): Promise<RawClient> {
  const { url, capabilities = {}, flags = [], script, env = {} } = setting;
  const PATH = fakeNpx(folder, script ?? ["--journal", journalOf(folder).file, ...flags]);
  const client = gateway(folder, { flags: ["--registry-url", url], env: { ...env, PATH } });
  await client.initialize(capabilities);
  return client;
}

async function provision(
  client: RawClient,
  intent: string,
  more: object = {},
  meta?: object,
): Promise<Provisioned> {
  return JSON.parse(textOf(await client.tool("mcp_provision", { intent, ...more }, meta))) as Provisioned;
}

function trust(folder: Temp, rules: object = { allow: ["io.github.fixture/*"] }): void {
  mkdirSync(folder.home, { recursive: true });
  writeFileSync(join(folder.home, "trusted-servers.json"), JSON.stringify(rules));
}

const configOf = (folder: Temp): { mcpServers: Record<string, unknown> } =>
  JSON.parse(readFileSync(folder.config, "utf8").replaceAll(/\/\/.*/g, "")) as never;
const started = (folder: Temp): number =>
  existsSync(journalOf(folder).file) ? journalOf(folder).events("start").length : 0;

test("mcp_provision returns a local tool if one fits, otherwise a server from the registry", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const { url } = await fakeRegistry([WEATHER, CRAWLER, PAGER]);
  const client = await open(folder, { url });
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

test("without trusted publishers no server is installed", async () => {
  const folder = temp();
  const entry = npmEntry("io.github.microsoft/weather", WEATHER.description ?? "");
  const { url } = await fakeRegistry([entry]);
  const client = await open(folder, { url });
  const answer = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(answer).toMatchObject({ source: "registry", matches: [{ id: entry.name, trust: "unknown" }] });
  expect(answer.installed).toBeUndefined();
  expect(answer.next).toMatch(/metamcp trust add io\.github\.microsoft\/weather/);
  expect(started(folder)).toBe(0);
  expect(existsSync(folder.config)).toBe(false);
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
  const client = await open(folder, { url });
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
  const client = await open(folder, { url });
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

test("for an untrusted server the person is asked with the exact command", async () => {
  const folder = temp();
  folder.writeConfig({});
  const { url } = await fakeRegistry([WEATHER]);
  const client = await open(folder, { url, capabilities: { elicitation: {} } });
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

  const unable = await open(temp(), { url });
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
  const client = await open(folder, { url, capabilities: { elicitation: {} } });
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

test("a secret from the environment reaches only the server", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder);
  const { url } = await fakeRegistry([CRAWLER]);
  const secret = "s3cr3t-of-the-crawler";
  const client = await open(folder, { url, env: { CRAWL_KEY: secret } });
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
  const client = await open(folder, { url, script: "echo no such city >&2; exit 7" });
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
  const client = await open(folder, { url });
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
  const client = await open(folder, { url, flags: ["--no-initialize"] });
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
    const client = await open(folder, { url });
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

test.each([
  ["down", (response: { destroy(): void }) => response.destroy()],
  [
    "broken",
    (response: { end(text: string): void }) => response.end("<html>Welcome to the hotel's wifi</html>"),
  ],
  ["silent", () => {}],
])(
  "with a registry that is %s the gateway starts without delay and offers the gallery",
  async (_what, misbehave) => {
    const folder = temp();
    folder.writeConfig({ a: fixture() });
    const { url, asked } = await fakeRegistry(misbehave as never);
    const client = await open(folder, { url });
    expect(textOf(await client.mcpCall("a", "echo", { message: "at once" }))).toBe("at once");
    expect(asked).toEqual([]);
    const answer = await provision(client, "query a PostgreSQL database with SQL");
    expect(answer.matches?.[0]).toMatchObject({ from: "gallery" });
    expect(answer).toMatchObject({ notice: expect.stringMatching(/registry/i) });
    await client.close();
  },
);

test("an invalid registry entry is not shown", async () => {
  const folder = temp();
  folder.writeConfig({});
  trust(folder, { allow: ["io.github.fixture/*", "io.github.evil/*"] });
  const hostile = [
    { ...WEATHER, name: "io.github.evil/../../weather" },
    npmEntry("io.github.evil/weather", "Weather forecasts for any city.", {
      identifier: "x; touch /tmp/pwned",
    }),
    npmEntry("io.github.evil/weather-two", "Weather forecasts for any city.", { version: "$(id)" }),
  ];
  const { url } = await fakeRegistry(hostile as never);
  const client = await open(folder, { url });
  const answer = await provision(client, "weather forecast for a city", { autoProvision: true });
  expect(JSON.stringify(answer)).not.toContain("evil");
  expect(started(folder)).toBe(0);
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
    ["trust", "remove", "nobody"],
    ["trust", "ad", "x"],
  ])
    expect((await metamcp(folder, wrong)).code, wrong.join(" ")).toBe(2);
  writeFileSync(join(folder.home, "trusted-servers.json"), "[");
  const broken = await metamcp(folder, ["trust", "add", "@me/*"]);
  expect(broken).toMatchObject({
    code: 1,
    err: expect.stringMatching(/trusted-servers\.json:1:2: .*no publisher is trusted/),
  });
  expect(readFileSync(join(folder.home, "trusted-servers.json"), "utf8")).toBe("[");
});

test.each(["ftp://example.com", "example.com", "https://me:secret@example.com"])(
  "%s is rejected as a registry address",
  async (url) => {
    const folder = temp();
    const { code, err } = await metamcp(folder, ["--registry-url", url], "");
    expect(code).toBe(2);
    expect(err).toMatch(/--registry-url/);
    expect(err).not.toContain("secret");
  },
);
