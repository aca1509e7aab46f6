/** The registry of a gateway: who sees which endpoints, and what hosts and MetaMCP's own client read. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readListed } from "../../../src/provision/registry/listed.ts";
import { metamcp } from "../../support/command.ts";
import { secretMachine } from "../../support/machine-client.ts";
import { BOB, oauthTeam } from "../../support/oauth-team.ts";
import { shared } from "../../support/shared.ts";
import { type Temp, temp } from "../../support/temp.ts";

const team = shared(() => oauthTeam());

const LIST = "/v0.1/servers";
const CATALOG = "/.well-known/mcp/catalog.json";
const card = (name: string) => `/metamcp/${name}/mcp/server-card`;

async function read(path: string, key?: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...more };
  const response = await fetch(`${team().url}${path}`, { headers });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

async function publish(registry: object | null): Promise<void> {
  const { status, body } = await team().api("PATCH", "/settings", { registry });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

async function keyFor(endpoints: readonly string[] | "all", more: object = {}): Promise<string> {
  const made = await team().api("POST", "/api-keys", { name: "reader", endpoints, ...more });
  return made.body.key;
}

const titles = ({ body }: { readonly body: { servers: { server: { title: string } }[] } }) =>
  body.servers.map(({ server }) => server.title);

test("without the setting there is nothing at its paths", async () => {
  await publish(null);
  const key = await keyFor("all");
  const somewhere = await read("/v0.1/nothing", key);
  for (const path of [LIST, `${LIST}/x/versions`, CATALOG])
    expect((await read(path, key)).status).toBe(somewhere.status);
  expect((await read(card("one"))).status).toBe(401);
});

test("a caller sees the listed endpoints that it may use, and nothing of others", async () => {
  const { api } = team();
  await publish({ endpoints: ["one", "ours", "off"] });
  expect(titles(await read(LIST, await keyFor("all")))).toEqual(["one", "ours"]);
  const narrow = await keyFor(["one", "two"]);
  expect(titles(await read(LIST, narrow))).toEqual(["one"]);
  expect(titles(await read(LIST, undefined, { "x-api-key": narrow }))).toEqual(["one"]);
  expect(titles(await read(LIST, await keyFor(["two"])))).toEqual([]);
  expect(titles(await read(LIST, await keyFor("all", { owner: "ada@example.org" })))).toEqual(["one"]);
  expect(titles(await read(LIST, await keyFor("all", { owner: BOB.email })))).toEqual(["one", "ours"]);

  const machine = await secretMachine(team());
  expect(titles(await read(LIST, (await machine.token("ours")).body.access_token))).toEqual(["ours"]);
  expect((await read(LIST, machine.secret)).status).toBe(401);
  const role = (await api("POST", "/api-keys", { name: "viewer", role: "viewer" })).body.key;
  expect((await read(LIST, role)).status).toBe(401);

  const name = (await read(LIST, narrow)).body.servers[0].server.name;
  const path = (title: string, version = "latest") =>
    `${LIST}/${encodeURIComponent(name.replace("one", title))}/versions/${version}`;
  expect((await read(path("one"), narrow)).status).toBe(200);
  const unseen = await Promise.all(
    ["ours", "two", "off", "nowhere"].map((title) => read(path(title), narrow)),
  );
  expect(new Set(unseen.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
  expect(unseen[0]?.status).toBe(404);
  expect((await read(card("ours"), narrow)).status).toBe(404);
  expect((await read(CATALOG, narrow)).body.entries).toHaveLength(1);
});

test("without a valid credential every path of it answers the same 401", async () => {
  await publish({ endpoints: ["one"] });
  const paths = [LIST, `${LIST}?limit=x`, `${LIST}/a%2Fone/versions`, `${LIST}/%/versions/latest`, CATALOG];
  const cards = ["one", "two", "nowhere"].map(card);
  for (const key of [undefined, "wrong"]) {
    const all = await Promise.all([...paths, ...cards].map((path) => read(path, key)));
    expect(new Set(all.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(all[0]?.status).toBe(401);
    expect(all[0]?.headers.get("www-authenticate")).toBe('Bearer realm="metamcp"');
  }
});

test("a public registry answers everybody as hosts ask it, from every origin, and only to reads", async () => {
  const { url, api } = team();
  await api("PATCH", "/endpoints/two", { description: "Second endpoint" });
  await publish({ public: true, endpoints: ["one", "two"] });
  const origin = "https://vscode.example";
  const list = await read(`${LIST}?limit=1&version=latest`, undefined, { origin });
  expect(list.headers.get("access-control-allow-origin")).toBe("*");
  expect(list.body).toMatchObject({
    servers: [{ server: { title: "one", remotes: [{ type: "streamable-http" }] } }],
    metadata: { count: 1, nextCursor: expect.any(String) },
  });
  // VS Code writes the cursor into the URL as it is, and leaves out entries without these members.
  const rest = await read(`${LIST}?limit=1&version=latest&cursor=${list.body.metadata.nextCursor}`);
  for (const entry of [list.body.servers[0], rest.body.servers[0]])
    expect(entry).toMatchObject({
      server: {
        name: expect.any(String),
        description: expect.stringMatching(/./),
        version: expect.any(String),
      },
      _meta: { "io.modelcontextprotocol.registry/official": { status: "active", isLatest: true } },
    });
  expect(titles(await read(`${LIST}?limit=50&version=latest&search=two`))).toEqual(["two"]);
  expect(titles(rest)).toEqual(["two"]);
  expect(rest.body.metadata).not.toHaveProperty("nextCursor");
  const { server } = rest.body.servers[0];
  expect(server).toMatchObject({
    description: "Second endpoint",
    remotes: [{ url: `${url}/metamcp/two/mcp` }],
  });
  // What MetaMCP's own client understands of it.
  expect(readListed(rest.body.servers[0])).toMatchObject({ name: server.name });

  const at = `${LIST}/${encodeURIComponent(server.name)}/versions`;
  expect((await read(at)).body.servers).toEqual([rest.body.servers[0]]);
  for (const version of ["latest", server.version])
    expect((await read(`${at}/${version}`)).body).toEqual(rest.body.servers[0]);
  expect((await read(`${at}/9.9.9`)).status).toBe(404);
  expect((await read(`${LIST}?updated_since=2099-01-01T00:00:00Z`)).body.servers).toEqual([]);
  expect((await read(`${LIST}?limit=0`)).status).toBe(400);

  const shown = await read(card("two"), undefined, { accept: "application/mcp-server-card+json", origin });
  expect(shown.headers.get("content-type")).toBe("application/mcp-server-card+json");
  expect(shown.body).toMatchObject({ name: server.name, version: server.version });
  const catalog = await read(CATALOG, undefined, { origin });
  expect(catalog.body.entries.map(({ url: where }: { url: string }) => where)).toContain(
    `${url}${card("two")}`,
  );
  expect(catalog.headers.get("access-control-allow-origin")).toBe("*");
  expect((await read(card("ours"))).status).toBe(404);

  const preflight = await fetch(`${url}${LIST}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
  expect((await fetch(`${url}${LIST}`, { method: "POST" })).status).toBe(405);
  // The endpoint itself stays closed.
  expect((await fetch(`${url}/metamcp/two/mcp`, { method: "POST", headers: { origin } })).status).not.toBe(
    200,
  );
});

test("the list follows its endpoints: unknown ones are refused, and a listed one is not deleted", async () => {
  const { api } = team();
  expect((await api("PATCH", "/settings", { registry: { endpoints: ["nowhere"] } })).status).toBe(422);
  expect((await api("PATCH", "/settings", { registry: { endpoints: ["one", "one"] } })).status).toBe(422);
  await api("POST", "/endpoints", { name: "brief", namespaces: ["team"] });
  await publish({ public: true, endpoints: ["one", "brief"] });
  expect(titles(await read(LIST))).toEqual(["brief", "one"]);
  const document = (await api("GET", "/config")).body;
  expect(document.settings.registry).toEqual({ public: true, endpoints: ["one", "brief"] });
  expect((await api("DELETE", "/endpoints/brief")).status).toBe(409);
  await api("PATCH", "/endpoints/brief", { disabled: true });
  expect(titles(await read(LIST))).toEqual(["one"]);
  await publish({ public: true, endpoints: ["one"] });
  expect((await api("DELETE", "/endpoints/brief")).status).toBeLessThan(300);
});

test("servers that an administrator marks are listed as packages, without values, for those who may use it", async () => {
  const { api } = team();
  const files = {
    name: "one",
    command: "npx",
    args: ["-y", "@a/files@1.2.3", "."],
    env: { TOKEN: "s3cret-value" },
  };
  await api("POST", "/mcp-servers", { ...files, description: "Files of the team" });
  await api("POST", "/mcp-servers", { name: "inside", command: "npx", args: ["-y", "inside@1.0.0"] });
  const refused = await api("PATCH", "/settings", {
    registry: { endpoints: ["one"], servers: ["one", "fix"] },
  });
  expect([refused.status, refused.body.errors]).toEqual([
    422,
    [{ path: "/registry/servers/1", message: expect.stringContaining("npx, uvx or docker") }],
  ]);

  await publish({ public: false, endpoints: ["one"], servers: ["one"] });
  const list = await read(LIST, await keyFor(["one"]));
  const [server, endpoint] = list.body.servers.map((entry: { server: object }) => entry.server);
  expect(endpoint).toMatchObject({ title: "one", remotes: [{}] });
  expect(server).toMatchObject({
    title: "one",
    description: "Files of the team",
    packages: [
      {
        registryType: "npm",
        identifier: "@a/files",
        version: "1.2.3",
        packageArguments: [{ type: "positional", value: "." }],
        environmentVariables: [{ name: "TOKEN", isRequired: true, isSecret: true }],
      },
    ],
  });
  expect(server.name).not.toBe(endpoint.name);
  expect(JSON.stringify(list.body)).not.toMatch(/s3cret|inside/);
  // A valid key for another endpoint, and nobody.
  expect(titles(await read(LIST, await keyFor(["two"])))).toEqual([]);
  expect((await read(LIST)).status).toBe(401);
  // A card and a catalog are about endpoints.
  const key = await keyFor("all");
  expect((await read(card("one"), key)).body).toHaveProperty("remotes");
  expect((await read(CATALOG, key)).body.entries).toHaveLength(1);

  await publish({ public: true, endpoints: [], servers: ["one"] });
  expect(titles(await read(LIST))).toEqual(["one"]);
  expect((await read(card("one"))).status).toBe(404);
  const at = `${LIST}/${encodeURIComponent(server.name)}/versions/latest`;
  expect((await read(at)).body.server.packages).toEqual(server.packages);
  // A server that changes to something that others cannot run, or is switched off, is no longer listed.
  const change = async (more: object) =>
    expect((await api("PATCH", "/mcp-servers/one", more)).status).toBe(200);
  await change({ args: ["-y", "@a/files@latest", "."] });
  expect((await read(at)).status).toBe(404);
  await change({ args: ["-y", "@a/files@1.2.4", "."] });
  expect((await read(at)).body.server.packages).toMatchObject([{ version: "1.2.4" }]);
  await change({ disabled: true });
  expect(titles(await read(LIST))).toEqual([]);

  const document = (await api("GET", "/config")).body;
  expect(document.settings.registry).toEqual({ public: true, servers: ["one"] });
  expect(await api("POST", "/config/diff", { document })).toMatchObject({
    status: 200,
    body: { changes: [] },
  });
  expect((await api("DELETE", "/mcp-servers/one")).status).toBe(409);
  await publish(null);
  expect((await api("DELETE", "/mcp-servers/one")).status).toBeLessThan(300);
});

test("metamcp import copies the listed endpoints that a key opens, and asks for the key otherwise", async () => {
  await publish({ public: false, endpoints: ["one", "two", "closed"] });
  const folder = temp();
  const run = (more: Readonly<Record<string, string>>, ...args: string[]) =>
    metamcp({ ...folder, env: { ...folder.env, ...more } } as Temp, ["import", ...args]);
  const from = ["--from-registry", team().url, "--yes", "--json"];
  const key = { METAMCP_REGISTRY_TOKEN: await keyFor(["one", "closed"]) };

  const refused = await run({}, ...from);
  expect([refused.code, JSON.parse(refused.out).faults[0]]).toEqual([
    1,
    expect.stringContaining("METAMCP_REGISTRY_TOKEN"),
  ]);
  const done = await run(key, ...from);
  expect(done.code).toBe(0);
  expect(JSON.parse(done.out)).toMatchObject({
    written: ["closed", "one"],
    servers: [{ notes: ["set CLOSED_X_API_KEY where MetaMCP runs"] }, {}],
  });
  expect(done.out + done.err).not.toContain(key.METAMCP_REGISTRY_TOKEN);
  const { mcpServers } = JSON.parse(readFileSync(JSON.parse(done.out).config, "utf8"));
  expect(mcpServers).toEqual({
    closed: {
      type: "http",
      url: `${team().url}/metamcp/closed/mcp`,
      headers: { "X-API-Key": "${CLOSED_X_API_KEY}" },
    },
    one: { type: "http", url: `${team().url}/metamcp/one/mcp` },
  });
  expect(JSON.parse((await run(key, ...from)).out)).toMatchObject({ written: [], same: [{}, {}] });

  // A credential goes neither into an address nor over a network without encryption.
  for (const [url, says] of [
    ["https://me:word@registry.example", "METAMCP_REGISTRY_TOKEN"],
    ["http://registry.example", "only over https"],
    ["registry.example", "not a web address"],
  ] as const) {
    const { code, err } = await run(key, "--from-registry", url);
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    expect(err).not.toContain("word@");
  }
  expect((await run(key, "cursor", ...from)).code).toBe(2);
});
