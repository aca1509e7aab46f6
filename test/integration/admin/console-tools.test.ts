/** The table of all tools in the console, and bulk changes of it. */
import { expect, test } from "vitest";
import { teamClient, teamGateway } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { FIXTURE_TOOLS, fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

interface Row {
  readonly server: string;
  readonly tool: string;
  readonly tokens: number;
  readonly bytes: number;
  readonly calls: number;
  readonly lastUsedAt?: string;
  readonly missing?: true;
  readonly changed?: { readonly kind: string; readonly parts: readonly string[] };
  readonly in: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, object>>;
}

async function team(tools: number, flags: readonly string[] = []) {
  const folder = temp();
  const gateway = await teamGateway(folder, { flags });
  const { api } = gateway;
  const many = await api("POST", "/mcp-servers", {
    name: "many",
    ...fixture("--bare", "--tools", String(tools)),
  });
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", {
    name: "all",
    servers: [{ server: "many" }, { server: "fix" }],
    tools: [
      { server: "fix", tool: "echo", name: "say", description: "Says it." },
      { server: "fix", tool: "add", disabled: true },
      { server: "fix", tool: "ghost", disabled: true },
    ],
  });
  await api("POST", "/namespaces", { name: "strict", servers: [{ server: "many" }], newTools: "disabled" });
  await api("POST", "/endpoints", { name: "all", namespaces: ["all"], surface: "aggregate" });
  for (const server of ["many", "fix"]) await api("POST", `/mcp-servers/${server}/connect`);
  const rows = async (query = ""): Promise<{ items: Row[]; total: number; nextCursor?: string }> =>
    (await api("GET", `/tools${query}`)).body;
  return { folder, gateway, api, rows, many: many.body.uuid as string };
}

test("one request lists every tool with its cost, its use and its state in each namespace", async () => {
  const { gateway, api, rows } = await team(40);
  const { body } = await api("GET", "/tools");
  expect(body.namespaces.map(({ name }: { name: string }) => name)).toEqual(["all", "strict"]);
  expect(body.servers).toMatchObject([{ name: "many", state: "idle" }, { name: "fix" }]);
  const find = (items: readonly Row[], tool: string) => items.find((row) => row.tool === tool) as Row;
  const { items, total } = await rows();
  expect(total).toBe(items.length);
  expect(find(items, "tool_7")).toMatchObject({ in: { 0: "on", 1: "new" }, calls: 0 });
  expect(find(items, "echo")).toMatchObject({
    in: { 0: "on" },
    overrides: { 0: { name: "say", description: "Says it." } },
  });
  expect(find(items, "add")).toMatchObject({ in: { 0: "off" } });
  expect(find(items, "add").overrides).toBeUndefined();
  expect(find(items, "ghost")).toMatchObject({ missing: true, in: { 0: "off" }, bytes: 0 });
  for (const { bytes, tokens } of items) expect(tokens).toBe(Math.ceil(bytes / 4.4));

  const client = await teamClient(gateway, "all", { key: await gateway.key() });
  await client.call("fix__say", { message: "hi" });
  await client.call("fix__say", { message: "again" });
  const used = find((await rows("?q=says+the+message")).items, "echo");
  expect(used.calls).toBe(2);
  expect(Date.parse(used.lastUsedAt ?? "")).toBeGreaterThan(Date.parse(body.since));
  expect((await rows("?q=say&server=fix")).items.map(({ tool }) => tool)).toEqual(["echo"]);
  expect((await rows("?namespace=strict")).items).toHaveLength(40);
  expect((await api("GET", "/tools?server=nothing")).status).toBe(404);

  const paged: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await rows(`?limit=13${cursor === undefined ? "" : `&cursor=${cursor}`}`);
    paged.push(...page.items.map(({ tool }) => tool));
    expect(page.total).toBe(total);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
  }
  expect(paged).toEqual(items.map(({ tool }) => tool));
});

test("500 tools are switched off in one request and one revision, and concurrent changes are kept", async () => {
  const { gateway, api, rows } = await team(600);
  const editor = await teamPerson(gateway, "editor");
  const client = await teamClient(gateway, "all", { key: await gateway.key() });
  await client.tools();
  const [first] = (await api("GET", "/revisions?limit=1")).body.items;
  const set = Array.from({ length: 500 }, (_, at) => ({
    server: "many",
    tool: `tool_${at}`,
    disabled: true,
  }));
  const other = [{ server: "many", tool: "tool_555", disabled: true }];
  const [done, also] = await Promise.all([
    editor.ask("POST", "/namespaces/all/tools", { set }),
    api("POST", "/namespaces/all/tools", { set: other }),
  ]);
  expect([done.status, also.status]).toEqual([200, 200]);
  const [last] = (await api("GET", "/revisions?limit=1")).body.items;
  expect(last.n).toBe(first.n + 2);
  const off = (await rows("?limit=5000")).items
    .filter((row) => row.in["0"] === "off")
    .map(({ tool }) => tool);
  expect(off).toHaveLength(501 + 2);
  await until(() => client.listChanges > 0, { what: "the notification" });
  expect(await client.tools()).toHaveLength(600 + FIXTURE_TOOLS - 1 - 501);

  const echo = { server: "fix", tool: "echo" };
  const rule = async () => {
    const { body } = await api("GET", "/namespaces/all");
    return body.tools.find(({ tool }: { tool: string }) => tool === "echo");
  };
  await editor.ask("POST", "/namespaces/all/tools", { set: [{ ...echo, title: "Say", description: null }] });
  expect(await rule()).toMatchObject({ tool: "echo", name: "say", title: "Say" });
  expect((await rule()).description).toBeUndefined();
  await editor.ask("POST", "/namespaces/all/tools", { set: [{ ...echo, reset: true }] });
  expect(await rule()).toBeUndefined();
  // In a namespace with `newTools: disabled`, switching a tool on lists it.
  await editor.ask("POST", "/namespaces/strict/tools", {
    set: [{ server: "many", tool: "tool_1", disabled: false }],
  });
  const { items } = await rows("?namespace=strict&q=tool_1");
  expect(items.find(({ tool }) => tool === "tool_1")?.in["1"]).toBe("on");

  const on = await editor.ask("POST", "/namespaces/all/tools", {
    set: set.map((tool) => ({ ...tool, disabled: false })),
  });
  expect((on.body["tools"] as unknown as unknown[]).length).toBe(3);
});

test("an invalid bulk change is rejected as a whole, with the place of the error", async () => {
  const { gateway, api } = await team(3);
  const editor = await teamPerson(gateway, "editor");
  const set = (...list: object[]) => editor.ask("POST", "/namespaces/all/tools", { set: list });
  const good = { server: "many", tool: "tool_0", disabled: true };
  const unknown = await set(good, { server: "nobody", tool: "x", disabled: true });
  expect(unknown.status).toBe(422);
  expect(unknown.body["errors"]).toMatchObject([{ path: "/set/1/server" }]);
  expect((await set(good, { server: "many", tool: "tool_1", nam: "x" })).body["errors"]).toMatchObject([
    { path: "/set/1/nam" },
  ]);
  expect((await set({ ...good, name: "tool_2" })).status).toBe(409);
  const loose = { server: "many", tool: "tool_1", annotations: { readOnlyHint: true } };
  expect((await set(good, loose)).status).toBe(403);
  expect((await editor.ask("POST", "/namespaces/nothing/tools", { set: [good] })).status).toBe(404);
  const { body } = await api("GET", "/namespaces/all");
  expect(body.tools).toHaveLength(3);
  const dry = await editor.ask("POST", "/namespaces/all/tools?dryRun=true", { set: [good] });
  expect(dry.body["changes"]).toMatchObject([
    { op: "update", kind: "namespace", name: "all", fields: ["tools"] },
  ]);
  const stale = await editor.ask("POST", "/namespaces/all/tools", { set: [good] }, { "if-match": '"1"' });
  expect(stale.status).toBe(412);
});

test("tools that changed since their approval are listed and can be approved", async () => {
  const folder = temp();
  const tool = (description: string) => ({
    name: "look",
    description,
    inputSchema: { type: "object", properties: {} },
  });
  const list = (...tools: object[]) => folder.write("tools.json", JSON.stringify(tools));
  list(tool("Looks."));
  const gateway = await teamGateway(folder, { flags: ["--pin"] });
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "odd", ...fixture("--tools-file", folder.path("tools.json")) });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "odd" }] });
  await api("POST", "/namespaces", { name: "empty", servers: [] });
  await api("POST", "/endpoints", { name: "team", namespaces: ["team"] });
  await api("POST", "/mcp-servers/odd/connect");
  const { body: fresh } = await api("GET", "/mcp-servers/odd/changes");
  expect(fresh).toMatchObject({ items: [], removed: [] });
  list(tool("Looks, and tells everybody."), { ...tool("New."), name: "new" });
  await api("POST", "/mcp-servers/odd/connect");
  const { body } = await api("GET", "/tools");
  expect(body.pinned).toBe(true);
  expect(body.items).toMatchObject([
    { tool: "look", changed: { kind: "changed", parts: ["description"] }, in: { 0: "held" } },
    { tool: "new", changed: { kind: "new" }, in: { 0: "held" } },
  ]);
  const { body: changes } = await api("GET", "/mcp-servers/odd/changes");
  expect(changes.items[0]).toMatchObject({
    tool: "look",
    before: { description: "Looks." },
    after: { description: "Looks, and tells everybody." },
  });
  const approve = (version: string, tools?: readonly string[]) =>
    api("POST", "/mcp-servers/odd/changes/approve", { version, ...(tools && { tools }) });
  expect((await approve(fresh.version)).status).toBe(409);
  const viewer = await teamPerson(gateway, "viewer");
  expect((await viewer.ask("GET", "/mcp-servers/odd/changes")).status).toBe(200);
  expect(
    (await viewer.ask("POST", "/mcp-servers/odd/changes/approve", { version: changes.version })).status,
  ).toBe(403);
  const places = ["mcp-servers/odd/tools", "namespaces/team/tools/odd", "endpoints/team/tools/odd"];
  for (const place of places) {
    const detail = await viewer.ask("GET", `/${place}/look`);
    const held = {
      enabled: false,
      because: "it changed since it was approved (description) and awaits approval",
    };
    expect([place, detail.status, detail.body]).toMatchObject([
      place,
      200,
      { ...held, own: { description: "Looks, and tells everybody." } },
    ]);
    expect((await viewer.ask("GET", `/${place}/nothing`)).status).toBe(404);
  }
  expect((await viewer.ask("GET", "/namespaces/empty/tools/odd/look")).status).toBe(404);
  const member = await teamPerson(gateway, "member");
  for (const place of places) expect((await member.ask("GET", `/${place}/look`)).status).not.toBe(200);
  expect((await approve(changes.version, ["look"])).body.items).toMatchObject([{ tool: "new" }]);
  const { body: after } = await api("GET", "/tools");
  expect(after.items).toMatchObject([
    { tool: "look", in: { 0: "on" } },
    { tool: "new", in: { 0: "held" } },
  ]);
  expect(after.items[0].changed).toBeUndefined();
});

test("5,000 tools in 10 namespaces fit on one page of less than 2 MB", async () => {
  const { api } = await team(5_000);
  for (let at = 0; at < 8; at++)
    await api("POST", "/namespaces", { name: `more-${at}`, servers: [{ server: "many" }] });
  const { body } = await api("GET", "/tools?limit=10000");
  expect(body.items).toHaveLength(5_000 + FIXTURE_TOOLS + 1);
  expect(body.nextCursor).toBeUndefined();
  expect(JSON.stringify(body).length).toBeLessThan(2_000_000);
});

test("a tool is shown as its server, a namespace or an endpoint defines it, depending on the role", async () => {
  const { gateway, api } = await team(1);
  await api("POST", "/namespaces/all/tools", {
    set: [{ server: "fix", tool: "echo", args: { message: { fixed: "hi" } } }],
  });
  const own = await api("GET", "/mcp-servers/fix/tools/echo");
  expect(own.body).toMatchObject({
    tool: "echo",
    name: "echo",
    enabled: true,
    definition: { name: "echo", inputSchema: { properties: { message: { type: "string" } } } },
  });
  expect(own.body.own).toBeUndefined();
  const { body } = await api("GET", "/namespaces/all/tools/fix/echo");
  expect(body).toMatchObject({
    name: "say",
    definition: { name: "say", description: "Says it.", inputSchema: { properties: {} } },
    own: { name: "echo" },
  });
  expect(Object.keys(body.definition.inputSchema.properties)).toEqual([]);
  expect((await api("GET", "/endpoints/all/tools/fix/echo")).body.definition).toEqual(body.definition);
  const off = await api("GET", "/endpoints/all/tools/fix/add");
  expect(off.body).toMatchObject({ enabled: false, because: expect.stringContaining("all") });
  const member = await teamPerson(gateway, "member");
  expect((await member.ask("GET", "/endpoints/all/tools/fix/echo")).body).toMatchObject({ name: "say" });
  expect((await member.ask("GET", "/endpoints/all/tools/fix/add")).status).toBe(404);
  expect((await member.ask("GET", "/namespaces/all/tools/fix/echo")).status).toBe(403);
  expect((await api("GET", "/endpoints/all/tools/fix/nothing")).status).toBe(404);
});
