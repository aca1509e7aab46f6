/** The metatools surface over stdio: descriptions and examples of tools. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Metatools, verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

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
  // About 4.4 bytes per token. A long number is shorter here than in the original text.
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
