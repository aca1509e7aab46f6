/**
 * The answers of mcp_discover: the servers, one server, or the best tools for a query. They are paged and
 * compact, and name missing servers.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import { RawClient } from "../../support/raw-client.ts";
import { fixture, ROOT, temp, withoutConfigVariable } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

interface Hit {
  readonly tool: string;
  readonly server?: string;
  readonly description: string;
  readonly score?: number;
  readonly confidence?: number;
  readonly signature?: string;
  readonly inputSchema?: object;
  readonly types?: string;
}

interface Found {
  readonly tools: readonly Hit[];
  readonly servers?: readonly object[];
  readonly server?: object;
  readonly nextCursor?: string;
  readonly truncated?: string;
  readonly notice?: string;
}

async function discover(client: RawClient, args: object = {}): Promise<Found> {
  return JSON.parse(textOf(await client.tool("mcp_discover", args))) as Found;
}

async function refusedMessage(client: RawClient, args: object): Promise<string> {
  const { error } = await client.request("tools/call", { name: "mcp_discover", arguments: args });
  expect(error).toMatchObject({ code: -32602 });
  return error?.message ?? "";
}

/** Reads all pages. */
async function allPages(client: RawClient, args: object): Promise<Hit[]> {
  const all: Hit[] = [];
  for (let cursor: string | undefined, pages = 0; pages < 100; pages++) {
    const page = await discover(client, { ...args, cursor });
    all.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor === undefined) return all;
  }
  throw new Error("the pages have no end");
}

test("without arguments it lists the servers, and starts none if there is a cache", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({
    first: { ...fixture("--journal", journal.file, "--bare", "--tools", "3"), criticality: "vital" },
    second: fixture("--journal", journal.file, "--bare", "--tools", "2"),
    broken: { command: 5 },
  });
  const client = gateway(folder);
  await client.initialize();
  // Listing its tools makes the server active for a moment.
  const known = { connected: true, state: expect.stringMatching(/^(idle|active)$/) };
  const answer = await client.tool("mcp_discover");
  expect(answer).toEqual({ content: [{ type: "text", text: expect.any(String) }] });
  expect(JSON.parse(textOf(answer))).toEqual({
    servers: [
      {
        name: "first",
        ...known,
        toolCount: 3,
        criticality: "vital",
        about: expect.stringMatching(/^fixture.*: tool_0/),
      },
      { name: "second", ...known, toolCount: 2, criticality: "optional", about: expect.any(String) },
      {
        name: "broken",
        state: "failed",
        connected: false,
        toolCount: 0,
        criticality: "optional",
        reason: expect.stringMatching(/command is a number/),
      },
    ],
  });
  expect(textOf(answer)).not.toMatch(/[\n\t]| {2}/);
  await client.close();

  const again = gateway(folder);
  await again.initialize();
  const { servers } = await discover(again);
  expect(servers).toMatchObject([
    { name: "first", state: "idle", connected: false, toolCount: 3 },
    { name: "second", state: "idle", connected: false, toolCount: 2 },
    { name: "broken" },
  ]);
  expect((await discover(again, { query: "tool number 1" })).tools.length).toBeGreaterThan(0);
  expect(journal.pids()).toHaveLength(2);
  await again.close();
});

test("with a server it lists the tools with signatures, or with schemas or TypeScript types", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), b: fixture("--bare", "--tools", "1") });
  const client = gateway(folder);
  await client.initialize();
  const { server, tools, nextCursor } = await discover(client, { server: "a" });
  expect(server).toMatchObject({ name: "a", connected: true, toolCount: expect.any(Number) });
  expect(tools).toHaveLength(10);
  expect(nextCursor).toEqual(expect.any(String));
  expect(tools[1]).toEqual({
    tool: "add",
    description: "Adds two numbers.",
    signature: "add(a: number, b: number)",
  });

  const add = async (detail: string): Promise<Hit | undefined> =>
    (await discover(client, { server: "a", detail })).tools.find(({ tool }) => tool === "add");
  expect(await add("schema")).toEqual({
    tool: "add",
    description: "Adds two numbers.",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
  });
  expect(await add("types")).toMatchObject({
    types: "function add(args: { a: number; b: number }): Promise<unknown>",
  });
  await client.close();
});

test("with a query it lists the best tools first, with signatures for the first ones", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), b: fixture("--bare", "--tools", "5") });
  const client = gateway(folder);
  await client.initialize();
  const { tools } = await discover(client, { query: "add two numbers" });
  expect(tools[0]).toMatchObject({ tool: "add", server: "a", signature: "add(a: number, b: number)" });
  for (const { score, confidence } of tools) {
    expect(score).toEqual(expect.any(Number));
    expect(confidence).toBeGreaterThanOrEqual(0);
    expect(confidence).toBeLessThanOrEqual(1);
  }
  const scores = tools.map(({ score = 0 }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(tools.filter(({ signature }) => signature).length).toBeLessThanOrEqual(3);

  const within = await discover(client, { query: "add two numbers", server: "b" });
  expect(within.tools.filter(({ server }) => server !== "b")).toEqual([]);
  expect((await discover(client, { query: "add", limit: 1 })).tools).toHaveLength(1);
  expect((await discover(client, { query: "  " })).servers).toHaveLength(2);
  expect((await discover(client, { query: "quetzalcoatl zymurgy" })).tools).toEqual(expect.any(Array));
  await client.close();
});

test("the pages contain every tool once, at most 100 per page", async () => {
  const folder = temp();
  folder.writeConfig({ many: fixture("--bare", "--tools", "230"), some: fixture("--bare", "--tools", "40") });
  const client = gateway(folder);
  await client.initialize();
  const expected = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `tool_${n}`).toSorted();
  const names = (hits: readonly Hit[]): string[] => hits.map(({ tool }) => tool).toSorted();
  expect(names(await allPages(client, { server: "many", limit: 60 }))).toEqual(expected(230));
  expect((await discover(client, { server: "many", limit: 100_000 })).tools).toHaveLength(100);
  expect(names(await allPages(client, { query: "tool number", server: "some", limit: 7 }))).toEqual(
    expected(40),
  );
  const ids = (await allPages(client, { query: "tool number", limit: 33 })).map(
    (hit) => `${hit.server}:${hit.tool}`,
  );
  expect(new Set(ids).size).toBe(ids.length);
  await client.close();
});

test("all matches of a query can be paged, and a configured limit is reported", async () => {
  const folder = temp();
  folder.writeConfig({ many: fixture("--bare", "--tools", "140") });
  const request = { query: "tool echo message", limit: 60 };
  const client = gateway(folder);
  await client.initialize();
  const all = await allPages(client, request);
  expect(new Set(all.map(({ tool }) => tool)).size).toBe(140);
  await client.close();

  const bounded = gateway(folder, { env: { METAMCP_SEARCH_BM25_MAX_RESULTS: "110" } });
  await bounded.initialize();
  const first = await discover(bounded, request);
  expect(first.truncated).toBeUndefined();
  const last = await discover(bounded, { ...request, cursor: first.nextCursor });
  expect([...first.tools, ...last.tools].map(({ tool }) => tool)).toEqual(
    all.slice(0, 110).map(({ tool }) => tool),
  );
  expect(last.nextCursor).toBeUndefined();
  expect(last.truncated).toMatch(/a search returns at most 110/);
  await bounded.close();
});

test("a cursor is valid only for its own query, client and list", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file), b: fixture("--bare", "--tools", "30") });
  const client = gateway(folder);
  await client.initialize();
  await discover(client);
  const query = "says the message back";
  const { nextCursor: cursor = "" } = await discover(client, { server: "a", limit: 3 });
  const { nextCursor: other = "" } = await discover(client, { query, limit: 3 });
  expect([cursor, other].every((text) => /^[\w-]+$/.test(text))).toBe(true);

  const garbled = [`${cursor}A`, cursor.slice(0, -2), cursor.toLowerCase(), "", "x", "0", "\u{1f600}"];
  for (const wrong of garbled)
    expect(await refusedMessage(client, { server: "a", cursor: wrong })).toMatch(/without it/);
  await refusedMessage(client, { cursor });
  await refusedMessage(client, { server: "b", cursor });
  await refusedMessage(client, { server: "a", cursor: other });
  await refusedMessage(client, { query, cursor });
  await refusedMessage(client, { query: `${query}!`, cursor: other });
  await refusedMessage(client, { query, server: "a", cursor: other });
  const stranger = gateway(folder);
  await stranger.initialize();
  await refusedMessage(stranger, { server: "a", cursor });
  await stranger.close();

  // The child reports a changed list, although nothing changed.
  const lists = (): number => journal.methods().filter((method) => method === "tools/list").length;
  const before = lists();
  await client.mcpCall("a", "notify", { method: "notifications/tools/list_changed" });
  await journal.until(() => lists() > before);
  // The list has been processed once this call is answered.
  await client.mcpCall("a", "pid");
  expect((await discover(client, { server: "a", cursor, limit: 3 })).tools).toHaveLength(3);

  await client.mcpCall("a", "change", { add: ["brand_new"] });
  await until(async () => (await discover(client, { query: "brand new" })).tools[0]?.tool === "brand_new");
  await refusedMessage(client, { server: "a", cursor });
  await refusedMessage(client, { query, cursor: other });
  await client.close();
});

test("tools that a child adds or removes are found and callable accordingly", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  await client.initialize();
  await client.mcpCall("a", "change", { add: ["harvest_turnips"], remove: ["echo"] });
  await until(
    async () => (await discover(client, { query: "harvest turnips" })).tools[0]?.tool === "harvest_turnips",
  );
  expect(textOf(await client.mcpCall("a", "harvest_turnips", { message: "two" }))).toBe("two");
  expect(failureOf(await client.mcpCall("a", "echo", { message: "?" }))).toMatchObject({
    code: "tool_not_found",
  });
  await client.close();
});

test("the ten best tools with long descriptions take less than 4 KB", async () => {
  const folder = temp();
  const description =
    "Reads a file from the disk and gives back its text, line by line if that is wanted. ".repeat(20);
  const properties = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [`parameter_number_${n}`, { type: "string", description }]),
  );
  const tools = Array.from({ length: 40 }, (_, n) => ({
    name: `read_a_file_from_some_place_${n}`,
    description,
    inputSchema: { type: "object", properties },
  }));
  folder.writeConfig({ files: fixture("--tools-file", folder.write("tools.json", JSON.stringify(tools))) });
  const client = gateway(folder);
  await client.initialize();
  const text = textOf(await client.tool("mcp_discover", { query: "read a file" }));
  expect((JSON.parse(text) as Found).tools).toHaveLength(10);
  expect(Buffer.byteLength(text)).toBeLessThan(4_096);
  await client.close();
});

test("a missing or broken config is reported in every answer until it is fixed", async () => {
  const folder = temp();
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  await client.initialize();
  const missing = await discover(client);
  expect(missing).toEqual({ servers: [], notice: expect.stringContaining(folder.config) });
  expect(missing.notice).toMatch(/no config file/);

  const notice = async (args?: object): Promise<string> => (await discover(client, args)).notice ?? "";
  folder.writeConfig({ a: fixture() });
  await until(async () => (await discover(client)).servers?.length === 1, { what: "the config to appear" });
  expect(await notice()).toBe("");
  folder.write(".mcp.json", '{ "mcpServers": {\n  "a": oops } }');
  await until(async () => (await notice()) !== "", { what: "the fault to be told" });
  for (const args of [{}, { query: "echo" }, { server: "a" }])
    expect(await notice(args)).toMatch(/\.mcp\.json:2:\d+: .*/);
  expect(textOf(await client.mcpCall("a", "echo", { message: "goes on" }))).toBe("goes on");
  folder.writeConfig({ a: fixture() });
  await until(async () => (await notice()) === "", { what: "the config to be well" });
  await client.close();
});

test("without --config a file that appears in the working folder is used", async () => {
  const folder = withoutConfigVariable(temp());
  const client = new RawClient(process.execPath, {
    args: [join(ROOT, "dist/metamcp.js")],
    cwd: folder.path("."),
    env: folder.env,
  });
  await client.initialize();
  expect(await discover(client)).toMatchObject({ servers: [], notice: expect.stringContaining(folder.home) });
  folder.writeConfig({ here: fixture() });
  await until(async () => (await discover(client)).servers?.length === 1, { what: ".mcp.json to be used" });
  await metamcp(folder, ["allow", "--yes"]);
  await until(async () => JSON.stringify(await discover(client)).includes(`"state":"idle"`));
  expect(textOf(await client.mcpCall("here", "echo", { message: "hi" }))).toBe("hi");
  await client.close();
});
