/** Permissions over HTTP: every route with every role, and the limits within a role. */

import { expect, test } from "vitest";
import { ROLES, type Role } from "../../../src/access/account.ts";
import { MATRIX } from "../../../src/access/may.ts";
import { type Route, requiredRole } from "../../../src/admin/route.ts";
import { adminRoutes } from "../../../src/admin/routes/all.ts";
import { adminFetch } from "../../support/admin-answers.ts";
import { apiClient, person } from "../../support/people.ts";
import { type TestAdmin, testAdmin } from "../../support/test-control.ts";

const ROUTES = adminRoutes({} as never);
const UNKNOWN_UUID = "00000000-0000-4000-8000-000000000000";

/** A second, independent reading of the table of rights. */
function allowed(route: Route, role: Role, isAccount: boolean): boolean {
  const least = requiredRole(route);
  if (least === "anyone") return true;
  const row: { least?: string; others?: Role; account?: true } =
    "action" in route ? MATRIX[route.action] : {};
  const rank = ROLES.indexOf(role);
  if (row.others && rank <= ROLES.indexOf(row.others)) return true;
  return rank <= ROLES.indexOf(least) && (isAccount || !row.account);
}

type Credentials = Readonly<Record<string, string>>;

/**
 * Sends the smallest request that reaches the handler, which then finds no object. Streams are closed
 * immediately.
 */
async function statusOf(url: string, shown: Credentials, { method, path, body }: Route): Promise<number> {
  const at = path.replace(/:n\b/, "999").replace(/:\w+/g, UNKNOWN_UUID);
  const sent = method === "GET" || !body ? {} : { body: "{}" };
  const headers = { "content-type": "application/json", ...shown };
  const answer = await adminFetch(`${url}/api/v1${at}`, { method, headers, redirect: "manual", ...sent });
  await answer.body?.cancel();
  return answer.status;
}

test("every route allows exactly the roles of the table, by cookie, by key and without credentials", async () => {
  const admin = await testAdmin();
  for (const route of ROUTES) {
    const status = await statusOf(admin.url, {}, route);
    const name = `${route.method} ${route.path} by nobody`;
    if (requiredRole(route) === "anyone") expect([200, 400, 404, 422], name).toContain(status);
    else expect(status, name).toBe(401);
  }
  for (const role of ROLES) {
    const made = await admin.ask("POST", "/api-keys", { name: role, role });
    const key = { authorization: `Bearer ${made.body["key"]}` };
    const account = await admin.access.accounts.create({ email: `${role}@example.org`, role });
    let cookie = "";
    for (const route of ROUTES) {
      // Some routes log out.
      if (!admin.access.sessions.of({ cookie }))
        cookie = (await admin.access.sessions.begin(account, {})).split(";", 1)[0] ?? "";
      for (const [who, shown, isAccount] of [
        ["cookie", { cookie, origin: admin.url }, true],
        ["key", key, false],
      ] as const) {
        const status = await statusOf(admin.url, shown, route);
        const name = `${route.method} ${route.path} by ${role} with a ${who}`;
        if (!allowed(route, role, isAccount)) expect(status, name).toBe(403);
        else if (requiredRole(route) !== "anyone") expect([401, 403], name).not.toContain(status);
      }
    }
  }
});

async function adminWithObjects(): Promise<TestAdmin> {
  const admin = await testAdmin({ git: ["log", "push"] });
  const { ask } = admin;
  await ask("POST", "/mcp-servers", { name: "git", command: "git-mcp", env: { TOKEN: "s" } });
  await ask("POST", "/namespaces", {
    name: "team",
    servers: [{ server: "git" }],
    middleware: [{ use: "policy" }],
  });
  await ask("POST", "/namespaces", { name: "free", servers: [{ server: "git" }] });
  await ask("POST", "/endpoints", { name: "main", namespaces: ["team"], middleware: [{ use: "audit" }] });
  await ask("POST", "/endpoints", { name: "side", namespaces: ["free"] });
  return admin;
}

test("an editor can change namespaces and endpoints, and can disable a server", async () => {
  const { ask } = await person(await adminWithObjects(), "editor");
  const fine: readonly [string, string, object?][] = [
    ["POST", "/namespaces", { name: "new", servers: [{ server: "git" }], middleware: [{ use: "timeout" }] }],
    [
      "PATCH",
      "/namespaces/team",
      { description: "ours", middleware: [{ use: "timeout" }, { use: "policy" }] },
    ],
    [
      "PATCH",
      "/namespaces/free",
      { tools: [{ server: "git", tool: "push", annotations: { destructiveHint: true } }] },
    ],
    ["POST", "/endpoints", { name: "mine", namespaces: ["new"] }],
    ["PATCH", "/endpoints/main", { surface: "aggregate", access: { public: false } }],
    ["PATCH", "/mcp-servers/git", { disabled: true }],
    ["PATCH", "/mcp-servers/git", { command: "git-mcp" }],
    ["DELETE", "/endpoints/side"],
    ["DELETE", "/namespaces/free"],
  ];
  for (const [method, path, body] of fine) {
    const { status, body: told } = await ask(method, path, body);
    expect(status, `${method} ${path} ${JSON.stringify(told)}`).toBeLessThan(300);
  }
});

const SAME_SECRET = { command: "git-mcp", env: { TOKEN: "s" } };

test("all other changes by an editor are rejected as a whole, with and without dry run", async () => {
  const admin = await adminWithObjects();
  const { ask } = await person(admin, "editor");
  const before = admin.control.revision;
  const policy = { use: "policy" };
  const loose = (annotations: object) => ({ tools: [{ server: "git", tool: "log", annotations }] });
  const refused: readonly [string, string, object?][] = [
    ["PATCH", "/mcp-servers/git", { disabled: true, command: "sh" }],
    ["PATCH", "/mcp-servers/git", { env: { TOKEN: "other" } }],
    ["PATCH", "/mcp-servers/git", { middleware: [{ use: "timeout" }] }],
    ["POST", "/mcp-servers", { name: "evil", command: "sh" }],
    ["PATCH", "/endpoints/main", { access: { public: true } }],
    ["PATCH", "/endpoints/main", { access: { allow: { roles: ["member"] } } }],
    ["PATCH", "/endpoints/main", { middleware: [] }],
    ["PATCH", "/endpoints/side", { middleware: [policy] }],
    ["PATCH", "/endpoints/side", { middleware: [{ use: "./own.mjs" }] }],
    ["POST", "/endpoints", { name: "open", access: { public: true } }],
    ["POST", "/endpoints", { name: "open", access: { queryKey: true } }],
    ["POST", "/namespaces", { name: "n", middleware: [{ use: "redact" }] }],
    ["PATCH", "/namespaces/team", { middleware: [] }],
    ["PATCH", "/namespaces/team", { middleware: [{ use: "policy", default: "allow" }] }],
    ["DELETE", "/namespaces/team?force=true"],
    ["DELETE", "/endpoints/main"],
    ["PATCH", "/namespaces/free", loose({ readOnlyHint: true })],
    ["PATCH", "/namespaces/free", loose({ destructiveHint: false })],
    ["PATCH", "/namespaces/free", loose({ idempotentHint: true })],
    ["PATCH", "/namespaces/free", loose({ openWorldHint: false })],
    ["PATCH", "/settings", { registration: "closed" }],
    ["POST", "/config/apply", { document: { version: 1, settings: { registration: "closed" } } }],
    ["POST", "/config/apply", { document: { version: 1, servers: { git: { command: "sh" } } } }],
    ["POST", "/config/diff", { document: { version: 1, servers: { git: { command: "sh" } } } }],
    ["POST", "/revisions/1/rollback"],
    // The stored secrets: the answer must not tell that they are right.
    ["PATCH", "/mcp-servers/git", { env: { TOKEN: "s" } }],
    ["POST", "/config/diff", { document: { version: 1, servers: { git: SAME_SECRET } } }],
    ["POST", "/config/apply", { document: { version: 1, servers: { git: SAME_SECRET } } }],
  ];
  for (const [method, path, body] of refused)
    for (const dry of path.includes("?") || path.endsWith("diff") ? [""] : ["", "?dryRun=true"]) {
      const { status, body: told } = await ask(method, `${path}${dry}`, body);
      expect(status, `${method} ${path}${dry} ${JSON.stringify(body)} ${JSON.stringify(told)}`).toBe(403);
    }
  expect(admin.control.revision).toBe(before);
});

test("an editor can roll back and apply changes that an editor could make", async () => {
  const admin = await adminWithObjects();
  const { ask } = await person(admin, "editor");
  const before = admin.control.revision;
  await ask("PATCH", "/namespaces/free", { description: "changed" });
  expect((await ask("POST", `/revisions/${before}/rollback`)).status).toBe(200);
  const document = { version: 1, namespaces: { mine: {} } };
  expect((await ask("POST", "/config/apply", { document })).status).toBe(200);
  await admin.ask("PATCH", "/settings", { registration: "closed" });
  const settings = admin.control.revision;
  await ask("PATCH", "/namespaces/free", { description: "again" });
  expect((await ask("POST", `/revisions/${settings - 1}/rollback`)).status).toBe(403);
  expect((await ask("POST", `/revisions/${settings}/rollback`)).status).toBe(200);
});

test("nobody can grant a right that they do not have", async () => {
  const admin = await adminWithObjects();
  const other = await person(admin, "member", "other@example.org");
  for (const role of ["editor", "viewer", "member"] as const) {
    const { ask, uuid } = await person(admin, role);
    const more = ROLES[ROLES.indexOf(role) - 1] as Role;
    expect((await ask("POST", "/api-keys", { name: "k", role: more })).status).toBe(403);
    expect((await ask("POST", "/api-keys", { name: "k", role, owner: other.uuid })).status).toBe(403);
    expect((await ask("POST", "/api-keys", { name: "k", endpoints: "all", owner: other.email })).status).toBe(
      403,
    );
    expect(
      (await ask("POST", "/api-keys", { name: "k", endpoints: "all", owner: UNKNOWN_UUID })).status,
    ).toBe(403);
    const made = await ask("POST", "/api-keys", { name: "k", role });
    expect(made.body).toMatchObject({ owner: uuid, role });
    const key = apiClient(admin.url, { "x-api-key": made.body["key"] ?? "" });
    expect((await key("POST", "/api-keys", { name: "l", role })).status).toBe(403);
    expect((await key("POST", "/api-keys", { name: "l", endpoints: "all" })).status).toBe(403);
    expect((await key("PUT", "/me/secrets/A", { value: "x" })).status).toBe(403);
    expect((await key("GET", "/me")).body).toMatchObject({ kind: "account", role, key: { name: "k" } });
  }
});

test("people see and revoke only their own keys", async () => {
  const admin = await adminWithObjects();
  const [ada, bob] = [
    await person(admin, "member", "ada@example.org"),
    await person(admin, "viewer", "bob@example.org"),
  ];
  const made = await ada.ask("POST", "/api-keys", { name: "mine", endpoints: ["main"], tiers: ["readOnly"] });
  const { uuid, key: text } = made.body as unknown as { uuid: string; key: string };
  expect(made.status).toBe(201);
  const listed = await ada.ask("GET", "/api-keys");
  expect(listed.body["items"]).toMatchObject([{ uuid, owner: ada.uuid, tiers: ["readOnly"] }]);
  expect(JSON.stringify(listed.body)).not.toContain(text);
  expect((await bob.ask("GET", "/api-keys")).body["items"]).toEqual([]);
  for (const [method, body] of [["DELETE"], ["PATCH", { name: "x" }]] as const)
    expect((await bob.ask(method, `/api-keys/${uuid}`, body)).status).toBe(404);
  expect((await ada.ask("PATCH", `/api-keys/${uuid}`, { name: "renamed" })).body).toMatchObject({
    name: "renamed",
  });
  expect((await ada.ask("PATCH", `/api-keys/${uuid}`, { tiers: ["write"] })).status).toBe(422);
  expect((await admin.ask("GET", "/api-keys")).body["items"]).toMatchObject([{ uuid }]);
  expect((await ada.ask("DELETE", `/api-keys/${uuid}`)).status).toBe(204);
});

test("creating a key does not reveal endpoints that the account may not use", async () => {
  const admin = await adminWithObjects();
  const closed = { name: "closed", access: { allow: { groups: ["vip"] } } };
  for (const endpoint of [closed, { name: "off", disabled: true }])
    expect((await admin.ask("POST", "/endpoints", endpoint)).status).toBe(201);
  const member = await person(admin, "member");
  const answers = await Promise.all(
    ["closed", "off", "nowhere"].map(async (name) => {
      const { status, body } = await member.ask("POST", "/api-keys", { name: "k", endpoints: [name] });
      return JSON.stringify([status, body]).replaceAll(name, "NAME");
    }),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain("there is no endpoint");
  expect((await member.ask("POST", "/api-keys", { name: "k", endpoints: ["main"] })).status).toBe(201);
  const viewer = await person(admin, "viewer");
  expect((await viewer.ask("POST", "/api-keys", { name: "k", endpoints: ["closed"] })).status).toBe(201);
});

test("a key of an account has the current rights of the account", async () => {
  const admin = await adminWithObjects();
  const { uuid } = await person(admin, "editor");
  const made = await admin.ask("POST", "/api-keys", { name: "k", role: "editor", owner: uuid });
  const key = apiClient(admin.url, { "x-api-key": made.body["key"] ?? "" });
  const create = () => key("POST", "/namespaces?dryRun=true", { name: "by-key" });
  expect((await create()).status).toBe(200);
  await admin.ask("PATCH", `/users/${uuid}`, { role: "viewer" });
  expect((await create()).status).toBe(403);
  expect((await key("GET", "/namespaces")).status).toBe(200);
  await admin.ask("PATCH", `/users/${uuid}`, { role: "admin" });
  expect((await create()).status).toBe(200);
  expect((await key("GET", "/settings")).status).toBe(403);
  await admin.ask("PATCH", `/users/${uuid}`, { disabled: true });
  expect((await key("GET", "/namespaces")).status).toBe(401);
  await admin.ask("PATCH", `/users/${uuid}`, { disabled: false });
  expect((await key("GET", "/namespaces")).status).toBe(200);
  await admin.ask("DELETE", `/users/${uuid}`);
  expect((await key("GET", "/namespaces")).status).toBe(401);
  expect((await admin.ask("GET", "/api-keys")).body["items"]).toEqual([]);
});
