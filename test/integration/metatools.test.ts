/** The metatools surface over stdio: the answers of each tool, successes and failures. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { gateway } from "../support/gateway.ts";
import { httpChild, json } from "../support/http-child.ts";
import { Metatools, runVerbatim, verbatim } from "../support/metatools.ts";
import { FIXTURE_TOOLS, fixture, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

test("the metatools are listed with input and output schemas without starting a server", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const metatools = await Metatools.open(folder);
  expect(metatools.definitions.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "search_tools",
      "list_tools",
      "list_namespaces",
      "describe_tool",
      "list_tool_examples",
      "run_tool",
      "run_chain",
    ]),
  );
  for (const { inputSchema, outputSchema } of metatools.definitions) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: "object", additionalProperties: false });
  }
  expect(journal.pids()).toEqual([]);
  expect(await metatools.refused("no_such_tool", {})).toMatchObject({ code: -32602 });
  await metatools.close();
});

test("search_tools, list_tools and list_namespaces list what exists, and unavailable servers with their reasons", async () => {
  const folder = temp();
  folder.writeConfig({
    b: fixture("--tools", "3"),
    a: fixture("--bare", "--tools", "2"),
    down: { command: "no-such-command" },
    broken: {},
  });
  const metatools = await Metatools.open(folder);
  const found = await metatools.call("search_tools", { query: "add two numbers", limit: 2 });
  expect(found.value.tools[0]).toEqual({
    id: "b:add",
    name: "add",
    namespace: "b",
    shortDescription: "Adds two numbers.",
    tags: [],
  });
  expect(found.value.tools).toHaveLength(2);
  const unavailable = [
    { server: "down", reason: expect.stringMatching(/not found/) },
    { server: "broken", reason: expect.stringMatching(/command/) },
  ];
  expect(found.value.unavailable).toEqual(unavailable);
  expect(found.text).toMatch(/"unavailable":\[\{"server":"down".*"server":"broken"/);

  const all = await metatools.call("list_tools", { limit: 1_000 });
  const ids = all.value.tools.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(FIXTURE_TOOLS + 3 + 2);
  expect(ids).toEqual(ids.toSorted((a: string, b: string) => (a < b ? -1 : 1)));
  expect(all.value).not.toHaveProperty("nextCursor");
  const own = await metatools.call("list_tools", { namespace: "a" });
  expect(own.value).toMatchObject({ tools: [{ id: "a:tool_0" }, { id: "a:tool_1" }], unavailable: [] });
  expect((await metatools.call("list_namespaces")).value).toEqual({ namespaces: ["a", "b"], unavailable });

  expect((await metatools.call("list_tools", { namespace: "down" })).value).toMatchObject({
    tools: [],
    unavailable: [{ server: "down" }],
  });
  const unknown = await metatools.call("list_tools", { namespace: "dwn" });
  expect(unknown.error).toMatchObject({ code: "server_not_found", details: { nearest: ["down"] } });
  expect((await metatools.call("search_tools", { query: "  " })).error?.code).toBe("validation_input");
  await metatools.close();
});

test("without servers the answers are empty, not errors", async () => {
  const folder = temp();
  const metatools = await Metatools.open(folder);
  expect((await metatools.call("search_tools", { query: "anything" })).value).toEqual({
    tools: [],
    unavailable: [],
  });
  const listed = await metatools.call("list_namespaces");
  expect(listed.value).toEqual({ namespaces: [], unavailable: [] });
  expect(listed.content[1]?.text).toMatch(/no config file/);
  await metatools.close();
});

test("a limit above 100 is reduced to 100, and short descriptions are cut to 120 code points at grapheme boundaries", async () => {
  const folder = temp();
  const family = "👨‍👩‍👧‍👦";
  const tools = Array.from({ length: 130 }, (_, n) => ({
    name: `t${n}`,
    description: family.repeat(40),
    inputSchema: { type: "object" },
  }));
  folder.writeConfig({ v: verbatim(folder, tools) });
  const metatools = await Metatools.open(folder);
  const { value } = await metatools.call("list_tools", { limit: 100_000 });
  expect(value.tools).toHaveLength(100);
  expect(value.nextCursor).toEqual(expect.any(String));
  expect((await metatools.call("list_tools")).value.tools).toHaveLength(20);
  for (const { shortDescription } of value.tools as { shortDescription: string }[]) {
    expect([...shortDescription].length).toBeLessThanOrEqual(120);
    expect(shortDescription.replaceAll(family, "")).toMatch(/^(…|Gives the result it is told to\.)$/);
  }
  const refused = await metatools.call("list_tools", { limit: 0 });
  expect(refused.error).toMatchObject({ code: "validation_input", op: "list_tools" });
  await metatools.close();
});

test("paging returns each item once, and a cursor is valid only for its query, caller and content", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--bare", "--tools", "23"), b: fixture() });
  const metatools = await Metatools.open(folder);
  const allPages = async (name: string, args: object): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { value } = await metatools.call(name, { ...args, cursor });
      ids.push(...(value.tools as { id: string }[]).map(({ id }) => id));
      cursor = value.nextCursor;
    }
    return ids;
  };
  const listed = await allPages("list_tools", { limit: 7 });
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed).toHaveLength(FIXTURE_TOOLS + 23);
  const found = await allPages("search_tools", { query: "tool number", limit: 4 });
  expect(new Set(found).size).toBe(found.length);
  expect(found).toEqual(await allPages("search_tools", { query: "tool number", limit: 100 }));

  const { nextCursor: cursor } = (await metatools.call("list_tools", { limit: 3 })).value;
  const invalid = { code: -32602, message: expect.stringMatching(/cursor/) };
  expect(await metatools.refused("list_tools", { cursor, namespace: "a" })).toMatchObject(invalid);
  expect(await metatools.refused("list_namespaces", { cursor })).toMatchObject(invalid);
  expect(await metatools.refused("search_tools", { query: "x", cursor })).toMatchObject(invalid);
  expect(await metatools.refused("list_tools", { cursor: `${cursor.slice(0, -2)}AA` })).toMatchObject(
    invalid,
  );
  expect(await metatools.refused("list_tools", { cursor: "" })).toMatchObject(invalid);
  const other = await Metatools.open(folder);
  await other.call("list_tools");
  expect(await other.refused("list_tools", { cursor })).toMatchObject(invalid);
  await other.close();

  // First a refresh without changes, then one with changes.
  await metatools.call("run_tool", { tool_id: "b:change" });
  expect((await metatools.call("list_tools", { cursor, limit: 3 })).value.tools).toHaveLength(3);
  await metatools.call("run_tool", { tool_id: "b:change", args: { add: ["brand_new"] } });
  await until(
    async () =>
      JSON.stringify((await metatools.call("search_tools", { query: "brand new" })).value).includes(
        "brand_new",
      ),
    { what: "the new tool" },
  );
  expect(await metatools.refused("list_tools", { cursor, limit: 3 })).toMatchObject(invalid);
  await metatools.close();
});

test("clients are notified with list_changed exactly when the searchable tools changed", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--prompts", "1") });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  await metatools.call("list_tools");
  const notified = (): number =>
    client.notifications.filter(({ method }) => method === "notifications/tools/list_changed").length;
  await client.until(() => notified() >= 1);
  /** The last call takes longer than the delay of a notification, so a due notification arrives before its answer. */
  const changed = async (args: object, expected: number): Promise<void> => {
    await metatools.call("run_tool", { tool_id: "a:change", args });
    await client.until(() => notified() >= expected);
    await metatools.call("run_tool", { tool_id: "a:sleep", args: { ms: 1_500 } });
    expect(notified()).toBe(expected);
  };
  await changed({}, 1);
  await changed({ prompts: ["another"] }, 1);
  await changed({ add: ["one", "two"] }, 2);
  await changed({}, 2);
  await client.request("tools/list");
  await changed({ remove: ["one"] }, 3);
  await metatools.close();
});

test("describe_tool has three levels of detail, each with its token cost", async () => {
  const folder = temp();
  const tools = [
    {
      name: "ns:find",
      title: "Find",
      description: "Finds things. See https://example.com/docs, or (https://example.com/more).",
      inputSchema: {
        type: "object",
        properties: {
          what: { type: "string", examples: ["books"] },
          limit: { type: "integer", default: "long" },
          kind: { enum: ["a", "b"] },
        },
        required: ["what"],
      },
      outputSchema: { type: "object", properties: { hits: { type: "array", items: { type: "string" } } } },
      annotations: { readOnlyHint: true },
      _meta: { _fastmcp: { tags: ["library"] } },
    },
  ];
  const written = folder.path("tools.json");
  folder.writeConfig({ v: { ...verbatim(folder, tools), tools: { ask: ["ns:*"] } } });
  folder.write("tools.json", readFileSync(written, "utf8").replace('"long"', "12345678901234567890"));
  const metatools = await Metatools.open(folder);
  const tool_id = "v:ns:find";
  const described = async (detail_level: string) =>
    (await metatools.call("describe_tool", { tool_id, detail_level })).value;
  const summary = await described("summary");
  const schema = await described("schema");
  const full = await described("full");
  expect(Object.keys(summary)).toEqual(["summary", "tokens"]);
  expect(summary.summary).toMatch(/^Finds things\./);
  expect(schema).toMatchObject({
    tool: { name: "ns:find", _meta: { _fastmcp: { tags: ["library"] } } },
    schemaInfo: { required: ["what"], types: { what: "string", limit: "int", kind: '"a" | "b"' } },
  });
  expect(Object.keys(schema)).toEqual(["summary", "tool", "schemaInfo", "tokens"]);
  expect(full).toMatchObject({
    notes: expect.stringMatching(/Only reads.*Asks a person.*output schema/),
    examples: [{ id: "schema-1", args: { what: "books" }, resultHint: "{ hits?: string[] }" }],
    externalRefs: ["https://example.com/docs", "https://example.com/more"],
  });
  const { tokens } = full;
  expect(tokens).toEqual(summary.tokens);
  const { tokens: _, ...shown } = full;
  // About four bytes per token. A long number is shorter here than in the original text.
  expect(tokens.full).toBeGreaterThan(JSON.stringify(shown).length / 5);
  expect(tokens.full).toBeLessThan(JSON.stringify(shown).length / 3);
  expect([tokens.summary < tokens.schema, tokens.schema < tokens.full]).toEqual([true, true]);
  const raw = await metatools.client.request("tools/call", {
    name: "describe_tool",
    arguments: { tool_id, detail_level: "schema" },
  });
  expect(raw.raw.toString()).toContain('"defaults":{"limit":12345678901234567890}');
  const [hit] = (await metatools.call("search_tools", { query: "find things" })).value.tools;
  expect(hit).toMatchObject({ id: tool_id, name: "ns:find", namespace: "v", tags: ["read-only", "library"] });

  for (const [args, code] of [
    [{ tool_id, detail_level: "all" }, "validation_input"],
    [{ tool_id }, "validation_input"],
    [{ tool_id: "find", detail_level: "full" }, "validation_input"],
    [{ tool_id: "v:ns:fnd", detail_level: "full" }, "tool_not_found"],
    [{ tool_id: "w:ns:find", detail_level: "full" }, "server_not_found"],
  ] as const)
    expect((await metatools.call("describe_tool", args)).error?.code).toBe(code);
  expect(
    (await metatools.call("describe_tool", { tool_id: "metamcp:read", detail_level: "full" })).value.summary,
  ).toMatch(/page/);
  await metatools.close();
});

test("examples come from the config, the schema and, if enabled, from successful calls", async () => {
  const folder = temp();
  const inputSchema = { type: "object", examples: [{ q: 1 }, { q: 2 }, "no arguments"] };
  const examples = {
    echo: [{ message: "plain" }, { title: "A greeting", args: { message: "hello" }, resultHint: "hello" }],
  };
  folder.writeConfig(
    {
      a: { ...fixture(), env: { SPECIAL: "marmalade" }, examples },
      v: verbatim(folder, [{ name: "x", inputSchema }]),
    },
    { examples: { fromUsage: true } },
  );
  const metatools = await Metatools.open(folder);
  const shown = async (tool_id: string, max?: number): Promise<{ id: string; args: unknown }[]> =>
    (await metatools.call("list_tool_examples", { tool_id, max })).value.examples;
  expect(await shown("v:x")).toMatchObject([
    { id: "schema-1", args: { q: 1 } },
    { id: "schema-2", args: { q: 2 } },
  ]);
  expect(await shown("a:echo")).toMatchObject([
    { id: "config-1", title: "echo with message", args: { message: "plain" } },
    { id: "config-2", title: "A greeting", args: { message: "hello" }, resultHint: "hello" },
  ]);

  for (const message of ["one", "two", "hello", "ghp_0123456789abcdefghij", "some marmalade"])
    await metatools.call("run_tool", { tool_id: "a:echo", args: { message } });
  await metatools.call("run_tool", { tool_id: "a:count", args: { key: "k" } });
  await metatools.call("run_tool", { tool_id: "a:is_error", args: { message: "failed" } });
  expect((await shown("a:echo", 50)).map(({ args }) => args)).toEqual([
    { message: "plain" },
    { message: "hello" },
    { message: "two" },
    { message: "one" },
  ]);
  expect(await shown("a:count")).toEqual([]);
  expect(await shown("a:is_error")).toEqual([]);
  expect(await shown("a:echo", 1)).toHaveLength(1);
  expect(await shown("a:echo", 0)).toEqual([]);
  await metatools.close();

  const kept = join(folder.home, "examples", "a.json");
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect(readFileSync(kept, "utf8")).not.toMatch(/ghp_|marmalade|"k"|failed/);
  const later = await Metatools.open(folder);
  expect((await later.call("list_tool_examples", { tool_id: "a:echo" })).value.examples).toHaveLength(4);
  await later.close();
});

test("examples of a schema are unchanged, complete or assembled from the examples of its properties", async () => {
  const folder = temp();
  const properties = {
    id: { type: "integer", examples: ["long"] },
    name: { examples: [null] },
    odd: true,
    no: { examples: [] },
  };
  const tools = [
    { name: "parts", inputSchema: { type: "object", properties, required: ["id"] } },
    { name: "some", inputSchema: { type: "object", properties, required: ["id", "no"] } },
    {
      name: "whole",
      inputSchema: { type: "object", properties, examples: [{ id: "long" }, [], 1, { id: "long" }] },
    },
  ];
  const v = verbatim(folder, tools);
  folder.write(
    "tools.json",
    readFileSync(folder.path("tools.json"), "utf8").replaceAll('"long"', "12345678901234567890"),
  );
  folder.writeConfig({ v });
  const metatools = await Metatools.open(folder);
  const shown = async (tool: string): Promise<string> => {
    const { raw, result } = await metatools.client.request("tools/call", {
      name: "list_tool_examples",
      arguments: { tool_id: `v:${tool}` },
    });
    metatools.read("list_tool_examples", result ?? {});
    return (raw.toString().match(/"args":\{[^}]*\}/g) ?? []).join();
  };
  expect(await shown("parts")).toBe('"args":{"id":12345678901234567890,"name":null}');
  expect(await shown("some")).toBe("");
  expect(await shown("whole")).toBe('"args":{"id":12345678901234567890}');
  await metatools.close();
});

test("examples from calls are unchanged, also after a restart", async () => {
  const folder = temp();
  folder.writeConfig(
    { v: verbatim(folder, [{ name: "x", inputSchema: { type: "object" } }]) },
    { examples: { fromUsage: true } },
  );
  const shown = async ({ client }: Metatools): Promise<string> => {
    const asked = { name: "list_tool_examples", arguments: { tool_id: "v:x" } };
    const { raw } = await client.request("tools/call", asked);
    return (raw.toString().match(/"args":\{[^}]*\}/g) ?? []).join();
  };
  const metatools = await Metatools.open(folder);
  for (const [at, id] of ["12345678901234567890", "12345678901234567891"].entries())
    await metatools.client.requestRaw(
      900 + at,
      "tools/call",
      `{"name":"run_tool","arguments":{"tool_id":"v:x","args":{"id":${id},"rate":1.50}}}`,
    );
  const expected =
    '"args":{"id":12345678901234567891,"rate":1.50},"args":{"id":12345678901234567890,"rate":1.50}';
  await until(async () => (await shown(metatools)) === expected, { what: "both examples" });
  await metatools.close();
  const later = await Metatools.open(folder);
  expect(await shown(later)).toBe(expected);
  await later.close();
});

test("calls are not stored as examples unless it is enabled", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const metatools = await Metatools.open(folder);
  await metatools.call("run_tool", { tool_id: "a:echo", args: { message: "secretive" } });
  expect((await metatools.call("list_tool_examples", { tool_id: "a:echo" })).value.examples).toEqual([]);
  await metatools.close();
  expect(readdirSync(folder.home)).not.toContain("examples");
});

test("run_tool returns structured content, parsed JSON text or plain text as the value, and keeps images as content", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const run = async (result: unknown) => await metatools.call("run_tool", runVerbatim(result));
  const text = (words: string) => ({ type: "text", text: words });
  expect((await run({ content: [text("other")], structuredContent: { a: 1 } })).value.structured).toEqual({
    a: 1,
  });
  expect((await run({ content: [text('{"a": [1,\n 2]}')] })).value.structured).toEqual({ a: [1, 2] });
  expect((await run({ content: [text("12 monkeys")] })).value.structured).toBe("12 monkeys");
  expect((await run({ content: [text("1"), text("2")] })).value.structured).toBe("1\n2");
  expect((await run({ content: [] })).value.structured).toBeNull();
  const done = await run({
    content: [text("hi"), { type: "image", data: "AAAA", mimeType: "image/png" }, { type: "hologram", x: 1 }],
    _meta: { "x/y": 1 },
  });
  expect(done.value.structured).toBe("hi");
  expect(done.content.slice(1)).toEqual([
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "hologram", x: 1 },
  ]);
  expect(done.meta).toEqual({ "x/y": 1 });
  expect(done.text).toBe("hi");
  expect(done.value.durationMs).toBeGreaterThan(0);
  expect(Object.keys(done.value)).toEqual(["structured", "durationMs"]);

  const long = '{"content":[],"structuredContent":{"n":12345678901234567890,"f":1.0}}';
  const { raw } = await metatools.client.request("tools/call", {
    name: "run_tool",
    arguments: runVerbatim(long),
  });
  expect(raw.toString()).toContain('"structured":{"n":12345678901234567890,"f":1.0}');
  const full = await metatools.call("run_tool", {
    ...runVerbatim(long),
    include_tool: true,
    include_backend: true,
    include_mcp_result: true,
  });
  expect(full.value).toMatchObject({
    tool: { name: "give" },
    backend: { kind: "mcp", server: "v" },
    mcpResult: { content: [] },
  });
  await metatools.close();
});

test("an invalid result of a server still gives an answer that a strict client accepts", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  for (const result of [
    "5",
    "[]",
    "null",
    '{"content":"x"}',
    '{"content":[5,null,"x",[1],{"no":1}],"_meta":5}',
    '{"content":[{"type":"text","text":5},{"type":5}],"_meta":[1]}',
    '{"content":[{"type":"image","data":5},{"type":"audio","data":"AAAA"}],"_meta":null}',
    '{"content":[{"type":"resource"},{"type":"resource","resource":{"uri":"a:b"}},{"type":"resource_link"}]}',
    '{"content":[7],"isError":true,"_meta":"x"}',
  ])
    for (const [name, args] of [
      ["run_tool", { ...runVerbatim(result), include_mcp_result: true }],
      ["run_chain", { steps: [runVerbatim(result)] }],
    ] as const) {
      const answer = await metatools.client.request("tools/call", { name, arguments: args });
      metatools.read(name, answer.result ?? {});
      expect(CallToolResultSchema.safeParse(answer.result).error, result).toBeUndefined();
    }
  await metatools.close();
});

test("the structured content of a failed tool is unchanged in the details", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const { client } = await Metatools.open(folder);
  const result = '{"content":[],"isError":true,"structuredContent":{"n":12345678901234567890,"f":1.0}}';
  for (const [name, args] of [
    ["run_tool", runVerbatim(result)],
    ["run_chain", { steps: [runVerbatim(result)] }],
  ] as const) {
    const { raw } = await client.request("tools/call", { name, arguments: args });
    expect(raw.toString()).toContain('"details":{"structured":{"n":12345678901234567890,"f":1.0}}');
  }
  await client.close();
});

test("a failed tool keeps its images and its _meta", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
  const failing = {
    content: [{ type: "text", text: "see there" }, picture],
    isError: true,
    _meta: { "x/y": 1 },
  };
  const told = await metatools.call("run_tool", runVerbatim(failing));
  expect(told.error).toMatchObject({ code: "execution_failed", details: { structured: "see there" } });
  expect(told.content.slice(1)).toEqual([picture]);
  expect(told.meta).toEqual({ "x/y": 1 });
  const chain = await metatools.call("run_chain", { steps: [runVerbatim(failing)] });
  expect(chain.content.slice(1)).toEqual([picture]);

  const data = Buffer.alloc(100_000, 7).toString("base64");
  const large = await metatools.call(
    "run_tool",
    runVerbatim({ ...failing, content: [{ ...picture, data }] }),
  );
  expect(large.bytes).toBeLessThan(4_096);
  expect(large.error?.details).toEqual({
    uri: expect.stringMatching(/^metamcp:/),
    bytes: expect.any(Number),
  });
  await metatools.close();
});

test("run_tool reports every failure with a code and includes the requested parts", async () => {
  const folder = temp();
  folder.writeConfig({
    a: { ...fixture(), tools: { deny: ["add"], ask: ["roots"] }, timeoutMs: 3_000 },
    down: { command: "no-such-command" },
    off: { ...fixture(), disabled: true },
    v: verbatim(folder),
  });
  const metatools = await Metatools.open(folder);
  const fails = async (args: object) => (await metatools.call("run_tool", args)).error;
  expect(await fails({ tool_id: "a:echo", args: { message: 1 } })).toMatchObject({
    code: "validation_input",
    tool_id: "a:echo",
    server: "a",
    op: "run_tool",
    retryable: false,
    details: { problems: ["message must be string"] },
  });
  expect(await fails({ tool_id: "a:is_error", args: { message: "no luck" } })).toMatchObject({
    code: "execution_failed",
    message: "a:is_error failed: no luck",
  });
  expect(
    await fails(runVerbatim({ content: [], structuredContent: { why: "so" }, isError: true })),
  ).toMatchObject({ code: "execution_failed", details: { structured: { why: "so" } } });
  expect(
    await fails({ tool_id: "a:fail", args: { code: -32005, message: "broke", data: { x: 1 } } }),
  ).toMatchObject({
    code: "execution_failed",
    details: { code: -32005, message: "broke", data: { x: 1 } },
  });
  expect(await fails({ tool_id: "a:hang" })).toMatchObject({ code: "timeout", retryable: false });
  expect(await fails({ tool_id: "a:count_unsafe", args: { key: "x", crashes: 9 } })).toMatchObject({
    code: "server_unavailable",
    retryable: false,
  });
  expect(await fails({ tool_id: "a:echoo" })).toMatchObject({
    code: "tool_not_found",
    message: expect.stringMatching(/Nearest: echo.*list_tools/),
    details: { nearest: ["echo"] },
  });
  expect(await fails({ tool_id: "a:add", args: { a: 1, b: 2 } })).toMatchObject({ code: "tool_not_found" });
  expect(await fails({ tool_id: "off:echo" })).toMatchObject({ code: "server_not_found" });
  expect(await fails({ tool_id: "down:echo" })).toMatchObject({
    code: "server_unavailable",
    retryable: true,
  });
  expect(await fails({ tool_id: "a:roots" })).toMatchObject({ code: "forbidden" });
  expect(await fails({ tool_id: "echo" })).toMatchObject({ code: "validation_input" });
  expect(await fails({ tool_id: "a:echo", args: [] })).toMatchObject({
    code: "validation_input",
    message: 'run_tool: "args" must be an object.',
  });
  expect(await fails({ tool_id: "a:echo", argz: {} })).toMatchObject({
    code: "validation_input",
    message: expect.stringMatching(/there is no argument "argz"/),
  });
  expect(await fails({ tool_id: "a:echo", args: { message: "x" }, stream: true })).toMatchObject({
    code: "stream_not_supported",
  });
  for (const backend_override of ["mcp", 1, false, {}])
    expect(await fails({ tool_id: "a:echo", args: { message: "x" }, backend_override })).toMatchObject({
      code: "backend_override_invalid",
    });
  expect(
    await fails({ tool_id: "a:echo", args: { message: "x" }, stream: false, backend_override: null }),
  ).toBeUndefined();
  const known = await metatools.call("run_tool", {
    tool_id: "a:is_error",
    include_tool: true,
    include_backend: true,
    include_mcp_result: true,
  });
  expect(known.value).toMatchObject({
    tool: { name: "is_error" },
    backend: { server: "a" },
    mcpResult: { isError: true },
    durationMs: expect.any(Number),
  });
  await metatools.close();
});

test("a 429 of a server becomes rate_limited with the time to retry after", async () => {
  const tool = { name: "busy", inputSchema: { type: "object" } };
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
    },
    "tools/list": { tools: [tool] },
  };
  const child = await httpChild(({ message: { id, method = "" } }, response) => {
    const result = results[method];
    if (result) json(response, { jsonrpc: "2.0", id, result });
    else if (id === undefined) response.writeHead(method ? 202 : 405).end();
    else response.writeHead(429, { "retry-after": "7" }).end("slow down");
  });
  const folder = temp();
  folder.writeConfig({ far: { url: child.url } });
  const metatools = await Metatools.open(folder);
  const { error } = await metatools.call("run_tool", { tool_id: "far:busy" });
  expect(error).toMatchObject({ code: "rate_limited", server: "far", retryable: true, retryAfterMs: 7_000 });
  const chain = await metatools.call("run_chain", { steps: [{ tool_id: "far:busy" }] });
  expect(chain.error?.details?.cause).toMatchObject({
    code: "rate_limited",
    retryAfterMs: 7_000,
    step_index: 0,
  });
  await metatools.close();
});

test("run_tool reports the child's progress or start and end, always increasing, and only if requested", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  const reported = (token: unknown): unknown[] =>
    client.notifications
      .filter(({ params }) => params?.["progressToken"] === token)
      .map(({ params }) => params?.["progress"]);
  await metatools.call("run_tool", { tool_id: "a:progress", args: { n: 3 } }, { progressToken: "own" });
  expect(reported("own")).toEqual([0, 1, 2, 3]);
  await metatools.call("run_tool", { tool_id: "a:echo", args: { message: "x" } }, { progressToken: 7 });
  expect(reported(7)).toEqual([0, 1]);
  // A list_changed notification may arrive at any time.
  const all = () => client.notifications.filter(({ method }) => method === "notifications/progress").length;
  const before = all();
  await metatools.call("run_tool", { tool_id: "a:progress", args: { n: 3 } });
  expect(all()).toBe(before);
  await metatools.close();
});

test("a cancellation reaches the child, and a step that waits for a starting child times out", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file), slow: fixture("--no-initialize") });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  void client.tool("run_tool", { tool_id: "a:sleep", args: { ms: 60_000 } }).catch(() => {});
  await journal.until(() => journal.events().some(({ tool }) => tool === "sleep"));
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await journal.until(() => journal.events("cancelled").length > 0);
  expect(
    (await metatools.call("run_tool", { tool_id: "a:echo", args: { message: "on" } })).value.structured,
  ).toBe("on");
  const late = await metatools.call("run_chain", { steps: [{ tool_id: "slow:echo", timeout_ms: 50 }] });
  expect(late.value.results[0].error).toMatchObject({ code: "timeout", step_index: 0 });
  client.kill("SIGTERM");
  await client.exited;
});

test("a client without structured content gets the value as text", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--surface", "metatools", "--log-level", "error"] });
  await client.initialize({}, "2025-03-26");
  const result = await client.tool("run_tool", { tool_id: "a:add", args: { a: 1, b: 2 } });
  expect(result).not.toHaveProperty("structuredContent");
  const [block] = result["content"] as { text: string }[];
  expect(JSON.parse(block?.text ?? "")).toMatchObject({ structured: { sum: 3 } });
  await client.close();
});
