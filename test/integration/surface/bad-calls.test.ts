/**
 * Calls with wrong names or arguments, and tools that fail: each gets a clear error of the right kind and
 * affects nothing else.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { failedCall, openClient } from "../../support/failed-call.ts";
import { gateway } from "../../support/gateway.ts";
import { discover, failureOf, textOf } from "../../support/meta.ts";
import { verbatim } from "../../support/metatools.ts";
import { fixture, temp } from "../../support/temp.ts";

const ANY = { type: "object" };

test("an unknown server or tool is answered with the nearest names, and no tool is called", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ fixture: fixture("--journal", journal.file), other: fixture() });
  const client = await openClient(folder);
  const noServer = await failedCall(client, "fixtrue", "echo");
  expect(noServer).toMatchObject({ code: "server_not_found", server: "fixtrue", retryable: false });
  expect(noServer["message"]).toMatch(/Nearest: fixture\b/);
  expect(journal.pids()).toEqual([]);

  const noTool = await failedCall(client, "fixture", "ecko");
  expect(noTool).toMatchObject({ code: "tool_not_found", tool_id: "fixture:ecko", retryable: false });
  expect(noTool["details"]).toMatchObject({ nearest: expect.arrayContaining(["echo"]) });
  for (const name of ["", "__proto__", "toString", "fixture "])
    expect(await failedCall(client, name, "echo")).toMatchObject({ code: "server_not_found" });
  for (const name of ["", "__proto__", "constructor"])
    expect(await failedCall(client, "fixture", name)).toMatchObject({ code: "tool_not_found" });
  expect(journal.methods()).not.toContain("tools/call");
  const unknown = (await client.tool("mcp_discover", { server: "fixtrue" })) as { isError?: boolean };
  expect(failureOf(unknown)).toMatchObject({ code: "server_not_found" });
  await client.close();
});

test("invalid arguments are reported with the schema and do not reach the child", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = await openClient(folder);
  const error = await failedCall(client, "a", "add", { a: "one" });
  expect(error).toMatchObject({ code: "validation_input", server: "a", tool_id: "a:add", retryable: false });
  expect(error["message"]).toMatch(/required property 'b'/);
  expect(error["message"]).toMatch(/a must be number/);
  expect(error["details"]).toMatchObject({ inputSchema: { required: ["a", "b"] } });
  expect(journal.methods()).not.toContain("tools/call");
  expect(textOf(await client.mcpCall("a", "add", { a: 1, b: 2 }))).toBe("3");
  await client.close();
});

test.each(["meta", "metatools"])(
  "%s: a resource whose server is down is not reported as missing, and a list of one page refuses cursors",
  async (surface) => {
    const folder = temp();
    folder.writeConfig({ a: fixture(), dead: { command: "no-such-command" } });
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize();
    const read = async (uri: string) => (await client.request("resources/read", { uri })).error;
    expect(await read("metamcp://server/dead/x://y")).toMatchObject({
      code: -32603,
      data: { code: "server_unavailable", server: "dead" },
    });
    expect(await read("metamcp://server/nobody/x://y")).toMatchObject({ code: -32002 });
    expect(await read("x://y")).toMatchObject({ code: -32002 });
    for (const list of ["tools/list", "resources/list", "resources/templates/list"]) {
      expect((await client.request(list, { cursor: "AAAA" })).error).toMatchObject({ code: -32602 });
      expect((await client.request(list, { cursor: null })).error).toBeUndefined();
    }
    await client.close();
  },
);

test("a request without a tool name, and a search without words, say what is missing", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  for (const surface of ["meta", "metatools"]) {
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize();
    const { error } = await client.request("tools/call", {});
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^The name of the tool is missing\. Tools here: /),
    });
    const [tool, args] =
      surface === "meta" ? ["mcp_provision", { intent: " " }] : ["search_tools", { query: " " }];
    expect(failureOf((await client.tool(tool, args)) as { isError?: boolean })).toMatchObject({
      code: "validation_input",
      message: expect.stringMatching(/ is empty: describe the task\.$/),
    });
    await client.close();
  }
});

const CALLS = {
  meta: (tool: string, args: object) => ({ name: "mcp_call", arguments: { server: "v", tool, args } }),
  metatools: (tool: string, args: object) => ({
    name: "run_tool",
    arguments: { tool_id: `v:${tool}`, args },
  }),
  aggregate: (tool: string, args: object) => ({ name: `v__${tool}`, arguments: args }),
};

test.each(Object.entries(CALLS))(
  "the %s surface shows the relevant part of a schema once in the text and once in the details, unchanged",
  async (surface, call) => {
    const folder = temp();
    // Small enough to be checked without a time limit. A larger schema could miss the limit on a busy
    // machine.
    const many = Array.from({ length: 150 }, (_, n) => [
      `p${n}`,
      { type: "string", description: `The value of p${n}, which is a text.` },
    ]);
    const tool = (name: string, more: object): object => ({
      name,
      inputSchema: { type: "object", properties: { big: { type: "integer" }, ...more }, required: ["big"] },
    });
    const v = verbatim(folder, [tool("small", {}), tool("large", Object.fromEntries(many))]);
    const [, list = ""] = v.args;
    folder.write(
      "tools.json",
      readFileSync(list, "utf8").replaceAll(
        '"big":{"type":"integer"}',
        '"big":{"type":"integer","maximum":18446744073709551615,"description":"Marmalade."}',
      ),
    );
    folder.writeConfig({ v });
    const client = await openClient(folder, "--surface", surface);
    if (surface === "aggregate") await client.request("tools/list");

    const small = await client.request("tools/call", call("small", { big: "x" }));
    const error = failureOf(small.result ?? {}) as { message: string; details?: Record<string, unknown> };
    expect(error.message).toBe("The arguments do not match v:small: big must be integer.");
    // Clients show a model either the text or the structured content.
    expect(small.raw.toString().split("Marmalade")).toHaveLength(3);
    expect(textOf(small.result ?? {})).toMatch(
      / Signature: small\(big: int\)\. big: \{.*18446744073709551615.*Marmalade/,
    );
    expect(small.raw.toString()).toContain('"maximum":18446744073709551615');
    expect(small.result?.["structuredContent"] === undefined).toBe(surface === "aggregate");
    expect(error.details).toMatchObject({
      problems: ["big must be integer"],
      inputSchema: { required: ["big"] },
    });

    const large = await client.request("tools/call", call("large", { p0: 1, ["x".repeat(10_000)]: 1 }));
    const brief = failureOf(large.result ?? {}) as typeof error;
    expect(textOf(large.result ?? {})).toMatch(/ Signature: large\(big: int, p0\?: string, .*, …\)\. /);
    expect(brief.details?.["inputSchema"]).toMatchObject({ properties: { big: {}, p0: {} } });
    expect(JSON.stringify(brief.details)).not.toContain("p1");
    expect(large.raw.length).toBeLessThan(2_500);
    await client.close();
  },
);

test("a schema that cannot be compiled, or has a pattern with exponential cost, is not checked", async () => {
  const folder = temp();
  const text = (pattern: string) => ({ ...ANY, properties: { p: { type: "string", pattern } } });
  const schemas = {
    no_type: { type: "no such type" },
    no_ref: { ...ANY, properties: { p: { $ref: "#/$defs/none" } } },
    far_ref: { ...ANY, properties: { p: { $ref: "https://example.com/schema.json" } } },
    no_regexp: text("(["),
    nested: text("^(a+)+$"),
    optional: text(`^${"a?".repeat(40)}${"a".repeat(40)}$`),
    either: text(`^${"(a|a)".repeat(40)}$`),
    keys: { ...ANY, patternProperties: { "^(a+)+$": { type: "number" } } },
    not: { ...ANY, properties: { p: { not: { pattern: "^(a+)+$" } } } },
    null: null,
    fine: { ...ANY, properties: { p: { pattern: "^a+$" }, q: { pattern: "^b+$" } } },
  };
  const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }));
  folder.writeConfig({ a: fixture("--tools-file", folder.write("tools.json", JSON.stringify(tools))) });
  const client = await openClient(folder);
  const hostile = `${"a".repeat(39)}!`;
  for (const name of Object.keys(schemas).slice(0, -1))
    expect(textOf(await client.mcpCall("a", name, { p: hostile, [hostile]: "x" })), name).toBe("");
  expect(textOf(await client.mcpCall("a", "fine", { p: "aa", q: "bb", message: "fits" }))).toBe("fits");
  for (const args of [{ p: "b" }, { q: "a" }])
    expect(await failedCall(client, "a", "fine", args)).toMatchObject({ code: "validation_input" });
  await client.close();
});

test("our own tools reject unknown fields and wrong types and name the valid ones", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = await openClient(folder);
  const invalid: [tool: string, args: unknown, says: RegExp][] = [
    [
      "mcp_discover",
      { question: "x" },
      /no argument "question"; known: query, server, limit, cursor, detail/,
    ],
    ["mcp_discover", { query: 5 }, /"query" must be a string/],
    ["mcp_discover", { query: ["x"] }, /"query" must be a string/],
    ["mcp_discover", { limit: 0 }, /"limit" must be a whole number of at least 1/],
    ["mcp_discover", { limit: "10" }, /"limit"/],
    ["mcp_discover", { limit: 1.5 }, /"limit"/],
    ["mcp_discover", { detail: "all" }, /"detail" must be one of schema, types/],
    ["mcp_discover", { __proto__: null, constructor: 1 }, /no argument "constructor"/],
    ["mcp_discover", [], /must be an object/],
    ["mcp_discover", "query", /must be an object/],
    ["mcp_call", {}, /"server" is missing/],
    ["mcp_call", undefined, /"server" is missing/],
    ["mcp_call", { server: null, tool: "echo" }, /"server" is missing/],
    ["mcp_call", { server: "a" }, /"tool" is missing/],
    [
      "mcp_call",
      { server: "a", tool: "echo", arguments: {} },
      /no argument "arguments"; known: server, tool, args/,
    ],
    ["mcp_call", { server: "a", tool: 1 }, /"tool" must be a string/],
    ["mcp_call", { server: "a", tool: "echo", args: "{}" }, /"args" must be an object/],
    ["mcp_call", { server: "a", tool: "echo", args: [] }, /"args" must be an object/],
  ];
  for (const [name, args, says] of invalid) {
    const { result = {} } = await client.request("tools/call", { name, arguments: args });
    const error = failureOf(result);
    expect(error, says.source).toMatchObject({ code: "validation_input", op: name, retryable: false });
    expect(error.message).toMatch(says);
  }
  // Models write null for arguments they do not use.
  const nothing = { query: null, server: null, limit: null, cursor: null, detail: null };
  expect(await discover(client, nothing)).toHaveProperty("servers");
  expect(textOf(await client.tool("mcp_call", { server: "a", tool: "pid", args: null }))).toMatch(/^\d+$/);
  await client.close();
});

test("a child's isError result is forwarded unchanged, and its JSON-RPC error becomes execution_failed with all details", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = await openClient(folder);
  const own = await client.mcpCall("a", "is_error", { message: "no such row" });
  expect(own).toEqual({ content: [{ type: "text", text: "no such row" }], isError: true });
  const call = `{"name":"mcp_call","arguments":{"server":"a","tool":"fail","args":{"code":-32602,"message":"odd","data":[12345678901234567890,1.0]}}}`;
  const { raw, result = {} } = await client.requestRaw(900, "tools/call", call);
  expect(failureOf(result)).toMatchObject({
    code: "execution_failed",
    server: "a",
    tool_id: "a:fail",
    retryable: false,
    details: { code: -32602, message: "odd" },
  });
  expect(raw.toString()).toContain('"data":[12345678901234567890,1.0]');
  await client.close();
});

test.each(["meta", "metatools", "aggregate"])(
  "%s: a call without a required property that has a default reaches the server",
  async (surface) => {
    const folder = temp();
    const properties = { type: { type: "string" }, scale: { type: "string", default: "css" } };
    const inputSchema = { type: "object", properties, required: ["type", "scale"] };
    folder.writeConfig({ v: verbatim(folder, [{ name: "shot", inputSchema }]) });
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize();
    const args = { type: "png" };
    const call: Record<string, [string, object]> = {
      meta: ["mcp_call", { server: "v", tool: "shot", args }],
      metatools: ["run_tool", { tool_id: "v:shot", args }],
      aggregate: ["v__shot", args],
    };
    const [name, given] = call[surface] as [string, object];
    const taken = (await client.request("tools/call", { name, arguments: given })).result;
    expect(JSON.stringify(taken?.["structuredContent"])).toContain('"args":{"type":"png"}');
    expect(taken?.["isError"]).toBeUndefined();
    if (surface !== "aggregate") {
      const code = 'const r = await tools.v.shot({ type: "png" }); r.args';
      const run =
        surface === "meta" ? ["mcp_execute", { code }] : ["execute_code", { language: "javascript", code }];
      const ran = (await client.request("tools/call", { name: run[0], arguments: run[1] })).result;
      expect(ran?.["structuredContent"]).toMatchObject({ value: args });
    }
    await client.close();
  },
);
