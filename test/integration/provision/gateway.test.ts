/**
 * Servers that a model requests at an endpoint: every client can find them, and only administrators can add
 * them.
 */
import { expect, test } from "vitest";
import { fakeNpx, fakeRegistry, npmEntry } from "../../support/registry.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { teamProcess } from "../../support/team-process.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const WEATHER = npmEntry("io.github.fixture/weather", "Weather forecasts for any city in the world.");
const CRAWLER = npmEntry("io.github.fixture/crawler", "Crawl a website page by page and extract its links.", {
  environmentVariables: [{ name: "CRAWL_KEY", description: "Key", isRequired: true, isSecret: true }],
});

async function team() {
  const folder = temp();
  const journal = folder.journal();
  const registry = await fakeRegistry([WEATHER, CRAWLER]);
  const PATH = fakeNpx(folder, ["--journal", journal.file]);
  const gateway = await teamProcess(folder, { env: { PATH, METAMCP_REGISTRY_URL: registry.url } });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture("--bare", "--tools", "1") });
  for (const name of ["team", "other"])
    await api("POST", "/namespaces", { name, servers: [{ server: "fix" }] });
  await api("POST", "/endpoints", { name: "team", namespaces: ["team", "other"] });
  await api("POST", "/endpoints", { name: "all", namespaces: ["team"], surface: "aggregate" });
  const key = await gateway.key();
  const client = await teamClient(gateway, "team", { key });
  const ask = async (intent: string, autoProvision = true) =>
    JSON.parse(await client.call("mcp_provision", { intent, autoProvision }));
  return { gateway, api, key, client, ask, journal };
}

test("a requested server is found and creates one pending request, but is not added", async () => {
  const { api, ask, journal } = await team();
  const told = await ask("weather forecast for a city", false);
  expect(told).toMatchObject({ source: "registry", matches: [{ id: "io.github.fixture/weather" }] });
  expect((await api("GET", "/provision-requests")).body.items).toEqual([]);
  const first = await ask("weather forecast for a city");
  const second = await ask("the weather forecasts of a city");
  expect(first.request).toMatchObject({ state: "pending" });
  expect(second.request).toEqual(first.request);
  const { items } = (await api("GET", "/provision-requests?state=pending")).body;
  expect(items).toMatchObject([
    {
      uuid: first.request.uuid,
      endpoint: { name: "team" },
      id: "io.github.fixture/weather",
      entry: { command: "npx" },
    },
  ]);
  expect((await api("GET", "/mcp-servers")).body.items).toHaveLength(1);
  expect(journal.pids()).toEqual([]);
});

test("an approved server joins the first namespace of the endpoint, clients are notified, and a second decision is rejected", async () => {
  const { gateway, api, key, ask, client } = await team();
  const listening = await teamClient(gateway, "all", { key });
  await listening.tools();
  const { request } = await ask("weather forecast for a city");
  const path = `/provision-requests/${request.uuid}`;
  const approved = await api("POST", `${path}/approve`);
  expect([approved.status, approved.body]).toMatchObject([
    200,
    { state: "approved", server: { name: "weather" } },
  ]);
  await until(() => listening.listChanges === 1);
  expect(await listening.tools()).toContain("weather__echo");
  const answer = await client.call("mcp_call", {
    server: "weather",
    tool: "echo",
    args: { message: "sunny" },
  });
  expect(answer).toContain("sunny");
  for (const decision of ["approve", "refuse"])
    expect((await api("POST", `${path}/${decision}`)).status).toBe(409);
  const namespaces = (await api("GET", "/namespaces")).body.items;
  const server = approved.body.server.uuid;
  const withIt = namespaces.filter(({ servers }: { servers: { server: string }[] }) =>
    servers.some((one) => one.server === server),
  );
  expect(withIt.map(({ name }: { name: string }) => name)).toEqual(["team"]);
  const again = await ask("io.github.fixture/weather");
  expect(again.request).toBeUndefined();
  expect(again.next).toContain("already here");
  const [revision] = (await api("GET", "/revisions")).body.items;
  expect(revision.summary).toContain("weather");
});

test("the approver chooses a namespace and gives missing values, and a refusal is final", async () => {
  const { api, ask } = await team();
  const { request } = await ask("crawl a website and extract links");
  const path = `/provision-requests/${request.uuid}`;
  const missing = await api("POST", `${path}/approve`);
  expect([missing.status, missing.body.detail]).toEqual([422, expect.stringContaining("CRAWL_KEY")]);
  expect((await api("POST", `${path}/approve`, { namespace: "nowhere" })).status).toBe(404);
  expect((await api("POST", `${path}/approve`, { name: "x" })).status).toBe(422);
  const done = await api("POST", `${path}/approve`, {
    namespace: "other",
    values: { CRAWL_KEY: "canary-key" },
  });
  expect(done.body).toMatchObject({ state: "approved" });
  const { body } = await api("GET", "/mcp-servers/crawler");
  expect(body.env).toEqual({ CRAWL_KEY: "********" });
  expect(JSON.stringify((await api("GET", "/provision-requests")).body)).not.toContain("canary-key");

  const weather = await ask("weather forecast for a city");
  const refused = await api("POST", `/provision-requests/${weather.request.uuid}/refuse`, {
    reason: "too wet",
  });
  expect(refused.body).toMatchObject({ state: "refused", reason: "too wet" });
  const again = await ask("weather forecast for a city");
  expect(again).toMatchObject({ request: { state: "refused" }, next: expect.stringContaining("too wet") });
  expect((await api("POST", "/provision-requests/none/approve")).status).toBe(404);
});

test("administrators can search the registry and the gallery", async () => {
  const { api } = await team();
  const found = await api("GET", "/registry?q=weather%20forecast");
  expect(found.body.items[0]).toMatchObject({ id: "io.github.fixture/weather", entry: { command: "npx" } });
  const entry = found.body.items[0].entry;
  expect((await api("POST", "/mcp-servers", { name: "mine", ...entry })).status).toBe(201);
  const { body: all } = await api("GET", "/registry");
  expect(new Set(all.items.map(({ from }: { from: string }) => from))).toEqual(
    new Set(["gallery", "registry"]),
  );
  const { body: gallery } = await api("GET", "/registry?from=gallery");
  expect(gallery.items.length).toBeGreaterThan(100);
  const github = gallery.items.find(({ name }: { name: string }) => name === "github");
  expect(github).toMatchObject({
    from: "gallery",
    category: expect.any(String),
    template: expect.any(Object),
  });
  const needing = gallery.items.filter(({ missing = [] }: { missing?: string[] }) => missing.length > 0);
  for (const { missing, variables, template } of needing) {
    const names = variables.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(missing));
    expect(missing.some((name: string) => JSON.stringify(template).includes(name))).toBe(true);
  }
  const { body: files } = await api("GET", "/registry?from=gallery&q=github");
  expect(files.items[0].name).toBe("github");
  expect((await api("GET", "/registry?from=elsewhere")).status).toBe(400);
});
