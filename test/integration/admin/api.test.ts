// biome-ignore-all lint/suspicious/noTemplateCurlyInString: servers hold them
/** The admin API over HTTP: objects, revisions, the document and keys, on a real store. */
import { expect, test } from "vitest";
import { KeyRing } from "../../../src/access/key-ring.ts";
import { ADMIN_TOKEN, type Ask, secretsOf, testAdmin } from "../../support/test-control.ts";

const UUID = expect.stringMatching(/^[0-9a-f]{8}-/) as string;

async function made(ask: Ask, path: string, body: object): Promise<Record<string, never>> {
  const answer = await ask("POST", path, body);
  expect(answer.body).toMatchObject({ uuid: UUID });
  expect(answer.status).toBe(201);
  return answer.body;
}

test("a server is created, listed with its status, read and deleted, and its secrets are masked", async () => {
  const { ask, store } = await testAdmin({ files: ["read", "write"] });
  const sent = { name: "files", command: "run-files", env: { TOKEN: "hidden-value", REF: "${TOKEN}" } };
  const server = await made(ask, "/mcp-servers", sent);
  expect(server).toMatchObject({
    name: "files",
    env: { TOKEN: "********", REF: "${TOKEN}" },
    managedBy: "api",
    revision: 1,
    status: { state: "idle", connected: false, toolCount: 2 },
  });
  const list = await ask("GET", "/mcp-servers");
  expect(list.body).toEqual({ items: [server] });
  const one = await ask("GET", `/mcp-servers/${server["uuid"]}`);
  expect(one.body).toEqual(server);
  expect(one.headers.get("etag")).toBe('"1"');
  expect(JSON.stringify((await store.load()).objects)).not.toContain("hidden-value");
  const back = await ask("PATCH", `/mcp-servers/${server["uuid"]}`, server);
  expect(back.body).toMatchObject({ server: { revision: 1 } });
  expect((await ask("DELETE", `/mcp-servers/${server["uuid"]}`)).status).toBe(204);
  expect((await ask("GET", `/mcp-servers/${server["uuid"]}`)).status).toBe(404);
});

test("PATCH of a server answers with its connection state, also at the short path", async () => {
  const { ask, url } = await testAdmin();
  const server = await made(ask, "/mcp-servers", { name: "a", command: "x" });
  const namespace = await made(ask, "/namespaces", { name: "team", servers: [{ server: "a" }] });
  const answer = await ask("PATCH", `/mcp-servers/${server["uuid"]}`, { command: "y" });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    message: "Server updated successfully",
    server: expect.objectContaining({ uuid: server["uuid"], command: "y", revision: 3 }) as object,
    connection: { state: "idle", connected: false, toolCount: 0 },
    namespaces: [namespace["uuid"]],
  });
  expect(answer.headers.get("etag")).toBe('"3"');
  const short = await fetch(`${url}/mcp-servers/${server["uuid"]}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/merge-patch+json" },
    body: '{"description":"by the short address"}',
  });
  expect(await short.json()).toMatchObject({ message: "Server updated successfully" });
});

test("import creates and updates servers by name, and connect and logs answer", async () => {
  const { ask } = await testAdmin();
  const server = await made(ask, "/mcp-servers", { name: "a", command: "x" });
  const mcpServers = { a: { command: "y" }, b: { url: "https://b.invalid/mcp" } };
  const imported = await ask("POST", "/mcp-servers/import", { mcpServers });
  expect([imported.status, imported.body]).toEqual([200, { created: ["b"], updated: ["a"] }]);
  const connected = await ask("POST", `/mcp-servers/${server["uuid"]}/connect`);
  expect(connected.body).toEqual({ connection: { state: "active", connected: true, toolCount: 0 } });
  const logs = await ask("GET", `/mcp-servers/${server["uuid"]}/logs`);
  expect(logs.body).toEqual({ items: ["a line on stderr"], times: ["1970-01-01T00:00:00.000Z"] });
});

test("references by name are answered as uuids, and each tool of a namespace or endpoint has a reason", async () => {
  const { ask } = await testAdmin({ files: ["read", "write"] });
  const server = await made(ask, "/mcp-servers", { name: "files", command: "x" });
  const namespace = await made(ask, "/namespaces", {
    name: "team",
    servers: [{ server: "files" }],
    tools: [
      { server: "files", tool: "write", disabled: true },
      { server: "files", tool: "read", name: "get" },
      { server: "files", tool: "later", disabled: true },
    ],
  });
  expect(namespace["servers"]).toEqual([{ server: server["uuid"] }]);
  const endpoint = await made(ask, "/endpoints", { name: "main", namespaces: ["team"] });
  expect(endpoint).toMatchObject({
    namespaces: [namespace["uuid"]],
    surface: "meta",
    access: { keys: true },
  });
  for (const path of [`/namespaces/${namespace["uuid"]}`, "/endpoints/main"])
    expect((await ask("GET", `${path}/tools`)).body["items"]).toMatchObject([
      { tool: "later", enabled: false, missing: true },
      { tool: "read", name: "get", enabled: true, because: 'renamed in namespace "team"' },
      { tool: "write", name: "write", enabled: false, because: 'disabled in namespace "team"' },
    ]);
  const used = await ask("DELETE", "/namespaces/team");
  expect([used.status, used.body["objects"]]).toEqual([
    409,
    [{ kind: "endpoint", uuid: endpoint["uuid"], name: "main" }],
  ]);
  expect((await ask("DELETE", "/namespaces/team?force=true")).status).toBe(204);
  expect((await ask("GET", "/endpoints/main")).body["namespaces"]).toEqual([]);
});

test("lists are paged without gaps and can be searched, and invalid queries get 400", async () => {
  const { ask } = await testAdmin();
  const names = ["alpha", "beta", "gamma", "Alphabet", "delta"];
  for (const name of names) await made(ask, "/namespaces", { name });
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await ask("GET", `/namespaces?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...(body["items"] as unknown as { name: string }[]).map(({ name }) => name));
    cursor = body["nextCursor"] ?? "";
    if (seen.length === 2) await ask("DELETE", `/namespaces/${seen.at(-1)}`);
  } while (cursor);
  expect(seen).toEqual(names);
  const found = (await ask("GET", "/namespaces?q=ALPHA")).body["items"] as unknown as { name: string }[];
  expect(found.map(({ name }) => name)).toEqual(["alpha", "Alphabet"]);
  for (const query of [
    "limit=0",
    "limit=x",
    "limit=501",
    "cursor=nonsense",
    "limit=1&limit=2",
    "dryRun=true",
  ])
    expect((await ask("GET", `/namespaces?${query}`)).status).toBe(400);
});

test("If-Match rejects changes that are based on an old revision", async () => {
  const { ask, control } = await testAdmin();
  await made(ask, "/namespaces", { name: "team" });
  const race = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      ask("PATCH", "/namespaces/team", { description: `number ${at}` }, { "if-match": '"1"' }),
    ),
  );
  const won = race.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  for (const { status, body } of race.filter((answer) => answer !== won[0])) {
    expect(status).toBe(412);
    expect(body["current"]).toEqual(won[0]?.body);
  }
  expect(control.revision).toBe(2);
  expect((await ask("DELETE", "/namespaces/team", undefined, { "if-match": '"1"' })).status).toBe(412);
});

test("a dry run answers with the changes and makes none", async () => {
  const { ask, control } = await testAdmin();
  const dry = await ask("POST", "/mcp-servers?dryRun=true", { name: "a", command: "x" });
  const after = { name: "a", command: "x", revision: 1 };
  expect([dry.status, dry.body]).toMatchObject([
    200,
    { changes: [{ op: "create", kind: "server", name: "a", uuid: UUID, after }] },
  ]);
  await made(ask, "/mcp-servers", { name: "a", command: "x" });
  const changes = [
    await ask("PATCH", "/mcp-servers/a?dryRun=true", { command: "y" }),
    await ask("DELETE", "/mcp-servers/a?dryRun=true"),
    await ask("PATCH", "/settings?dryRun=true", { registration: "closed" }),
    await ask("POST", "/mcp-servers/import?dryRun=true", { mcpServers: { b: { command: "z" } } }),
    await ask("POST", "/api-keys?dryRun=true", { name: "k", endpoints: "all" }),
  ];
  const values = { before: { command: "x" }, after: { command: "y" } };
  expect(changes[0]?.body).toMatchObject({ changes: [{ op: "update", fields: ["command"], ...values }] });
  expect(
    changes.map(({ status, body }) => [status, (body["changes"] as unknown as object[]).length]),
  ).toEqual(changes.map(() => [200, 1]));
  expect(control.revision).toBe(1);
  expect((await ask("GET", "/api-keys")).body).toEqual({ items: [] });
});

test("settings have defaults and an ETag before the first change", async () => {
  const { ask } = await testAdmin();
  const before = await ask("GET", "/settings");
  expect(before.body).toMatchObject({ middleware: [], registration: "open", revision: 0 });
  expect(before.headers.get("etag")).toBe('"0"');
  const after = await ask("PATCH", "/settings", { registration: "closed" }, { "if-match": '"0"' });
  expect(after.body).toMatchObject({ registration: "closed", revision: 1 });
  expect((await ask("PATCH", "/settings", {}, { "if-match": '"0"' })).status).toBe(412);
});

test("the history lists the changes of each revision, and a rollback restores secrets too", async () => {
  const { ask, control } = await testAdmin();
  await made(ask, "/mcp-servers", { name: "a", command: "x", env: { K: "first-secret" } });
  await ask("PATCH", "/mcp-servers/a", { env: { K: "second-secret" }, description: "d" });
  await made(ask, "/namespaces", { name: "team" });
  const history = await ask("GET", "/revisions?limit=2");
  expect(history.body["items"]).toMatchObject([
    { n: 3, who: { kind: "token", name: "admin token" } },
    { n: 2 },
  ]);
  const rest = await ask("GET", `/revisions?cursor=${history.body["nextCursor"]}`);
  expect(rest.body["items"]).toMatchObject([{ n: 1 }]);
  const second = await ask("GET", "/revisions/2");
  expect(second.body["diff"]).toEqual([
    {
      op: "update",
      kind: "server",
      name: "a",
      uuid: UUID,
      fields: ["env", "description"],
      before: { description: "", env: { K: "********" } },
      after: { description: "d", env: { K: "********" } },
    },
  ]);
  const back = await ask("POST", "/revisions/1/rollback");
  expect(back.body).toMatchObject({ revision: 4, changes: [{ op: "update" }, { op: "delete" }] });
  const { objects } = control.compiled;
  expect(objects.namespace.size).toBe(0);
  expect(secretsOf(control, "a")).toEqual({ K: "first-secret" });
  for (const n of ["0", "99", "-1", "x", "1e1"])
    expect((await ask("POST", `/revisions/${n}/rollback`)).status).toBe(404);
});

test("the config document is exported, compared and applied in one revision, and applying it again changes nothing", async () => {
  const { ask, control } = await testAdmin();
  await made(ask, "/mcp-servers", { name: "a", command: "x", env: { K: "the-secret" } });
  await made(ask, "/namespaces", { name: "team", servers: [{ server: "a" }] });
  await made(ask, "/endpoints", { name: "main", namespaces: ["team"] });
  const { body: document } = await ask("GET", "/config");
  expect(document).toMatchObject({ version: 1, needs: ["/servers/a/env/K"] });
  const yaml = await ask("GET", "/config", undefined, { accept: "application/yaml" });
  expect(yaml.headers.get("content-type")).toBe("application/yaml");
  expect(String(yaml.body)).toMatch(/^version: 1\n/);
  expect((await ask("POST", "/config/apply", { document })).body).toEqual({ revision: 3, changes: [] });
  const next = { ...document, endpoints: { other: { namespaces: ["team"] } } };
  const body = { document: next, prune: true };
  const diff = await ask("POST", "/config/diff", body);
  expect(diff.body["changes"]).toMatchObject([
    { op: "create", kind: "endpoint", name: "other" },
    { op: "delete", kind: "endpoint", name: "main" },
  ]);
  expect(control.revision).toBe(3);
  const applied = await ask("POST", "/config/apply", { ...body, source: "team.yaml" });
  expect(applied.body).toMatchObject({ revision: 4 });
  const refused = await ask("PATCH", "/namespaces/team", { description: "mine" });
  expect([refused.status, refused.body["detail"]]).toEqual([409, expect.stringContaining("team.yaml")]);
  expect((await ask("PATCH", "/namespaces/team?takeOver=true", { description: "mine" })).status).toBe(200);
  const wrong = await ask("POST", "/config/apply", {
    document: { version: 1, servers: { b: { comand: 1 } } },
  });
  expect([wrong.status, wrong.body["errors"]]).toMatchObject([422, [{ path: "/document/servers/b/comand" }]]);
});

test("an API key is shown once, works immediately, and stops working when revoked", async () => {
  const { ask, store } = await testAdmin();
  const endpoint = await made(ask, "/endpoints", { name: "main" });
  const ring = new KeyRing(store);
  const key = await made(ask, "/api-keys", { name: "ci", endpoints: ["main"] });
  expect(key).toMatchObject({
    endpoints: [endpoint["uuid"]],
    key: expect.stringMatching(/^mmcp_/) as string,
  });
  const { key: text, ...shown } = key as unknown as { key: string; uuid: string };
  expect((await ask("GET", "/api-keys")).body).toEqual({ items: [shown] });
  await ring.load();
  expect(ring.holderOf(text)?.opens(endpoint["uuid"] ?? "")).toBe(true);
  expect((await ask("DELETE", `/api-keys/${shown.uuid}`)).status).toBe(204);
  await ring.load();
  expect(ring.holderOf(text)).toBeUndefined();
  expect((await ask("DELETE", `/api-keys/${shown.uuid}`)).status).toBe(404);
  for (const wrong of [
    { name: "k", endpoints: ["nowhere"] },
    { name: "k", endpoints: [] },
    { name: "", endpoints: "all" },
    { name: "k", endpoints: "all", role: "admin" },
    { name: "k", endpoints: "all", expiresAt: "2001-01-01T00:00:00Z" },
    { name: "k", endpoints: "all", expiresAt: "tomorrow" },
    { name: "k", endpoints: "all", expiresAt: "2030-99-99T00:00:00Z" },
  ])
    expect((await ask("POST", "/api-keys", wrong)).status).toBe(422);
});

test("imported keys of another system work, and keys in other formats are rejected", async () => {
  const { ask, store } = await testAdmin();
  await made(ask, "/endpoints", { name: "main" });
  const uuid = "00000000-0000-4000-8000-000000000001";
  const old = { uuid, name: "old", key: `sk_mt_${"a".repeat(64)}`, endpoints: ["main"] };
  for (let twice = 0; twice < 2; twice += 1)
    expect((await ask("POST", "/api-keys/import", { keys: [old] })).body).toEqual({ imported: 1 });
  const ring = new KeyRing(store);
  await ring.load();
  expect(ring.holderOf(old.key)).toBeDefined();
  expect(ring.holderOf(`${old.key}b`)).toBeUndefined();
  expect((await ask("GET", "/api-keys")).body["items"]).toMatchObject([{ uuid, prefix: "sk_mt_aaaaaaa" }]);
  const weak = await ask("POST", "/api-keys/import", { keys: [{ ...old, key: "chosen-by-me" }] });
  expect([weak.status, weak.body["errors"]]).toMatchObject([422, [{ path: "/keys/0/key" }]]);
});

test("every route needs the admin token, and an unavailable store gives 503", async () => {
  const { url, ask, store } = await testAdmin();
  for (const path of ["/api/v1/mcp-servers", "/api/v1/openapi.json", "/mcp-servers/x", "/api/v1/none"])
    for (const authorization of ["", "Bearer wrong", `Basic ${ADMIN_TOKEN}`, `Bearer ${ADMIN_TOKEN}x`]) {
      const answer = await fetch(url + path, { headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
  await store.close();
  const away = await ask("POST", "/namespaces", { name: "team" });
  expect([away.status, away.body["title"]]).toEqual([503, "Unavailable"]);
  expect((await ask("GET", "/namespaces")).body).toEqual({ items: [] });
});
