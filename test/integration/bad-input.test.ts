/** Invalid input of clients and configs: each mistake gets a clear error of the right kind and affects nothing else. */
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { gateway } from "../support/gateway.ts";
import { discover, failureOf, textOf } from "../support/meta.ts";
import { verbatim } from "../support/metatools.ts";
import type { RawClient } from "../support/raw-client.ts";
import { fixture, type Temp, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const ANY = { type: "object" };

async function open(folder: Temp, ...flags: string[]): Promise<RawClient> {
  const client = gateway(folder, { flags });
  await client.initialize();
  return client;
}

/**
 * Calls a tool that must fail. Checks that the answer is a result with text for the model and a typed error, not a JSON-RPC
 * error.
 */
async function failedCall(client: RawClient, server: string, tool: string, args: object = {}) {
  const result = await client.mcpCall(server, tool, args);
  const error = failureOf(result) as unknown as Record<string, unknown>;
  const keys = [
    "code",
    "message",
    "tool_id",
    "server",
    "op",
    "step_index",
    "retryable",
    "retryAfterMs",
    "details",
  ];
  expect(Object.keys(error).filter((key) => !keys.includes(key))).toEqual([]);
  expect(error).toMatchObject({
    code: expect.any(String),
    message: expect.any(String),
    retryable: expect.any(Boolean),
  });
  const text = textOf(result);
  expect(text.startsWith(`${error["code"]}: ${error["message"]}`)).toBe(true);
  expect(text).toMatch(
    error["code"] === "validation_input"
      ? / Correct the arguments and call again\.$/
      : error["retryable"]
        ? / (?:Retrying is safe|Retry after \d+ s)\.$/
        : / Do not repeat the same call\.$/,
  );
  return error;
}

test("an unknown server or tool is answered with the nearest names, and no tool is called", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ fixture: fixture("--journal", journal.file), other: fixture() });
  const client = await open(folder);
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
  const client = await open(folder);
  const error = await failedCall(client, "a", "add", { a: "one" });
  expect(error).toMatchObject({ code: "validation_input", server: "a", tool_id: "a:add", retryable: false });
  expect(error["message"]).toMatch(/required property 'b'/);
  expect(error["message"]).toMatch(/a must be number/);
  expect(error["details"]).toMatchObject({ inputSchema: { required: ["a", "b"] } });
  expect(journal.methods()).not.toContain("tools/call");
  expect(textOf(await client.mcpCall("a", "add", { a: 1, b: 2 }))).toBe("3");
  await client.close();
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
    // Small enough to be checked without a time limit. A larger schema could miss the limit on a busy machine.
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
    const client = await open(folder, "--surface", surface);
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

test("a tool list from the disk cache rejects no call, but the rules of the config do", async () => {
  const folder = temp();
  const script = fileURLToPath(new URL("../fixture/no-list.mjs", import.meta.url));
  const entry = { command: process.execPath, args: [script, folder.path("unlisted")] };
  folder.writeConfig({ a: { ...entry, tools: { deny: ["bad*"] } } });
  const first = await open(folder);
  expect(await failedCall(first, "a", "one")).toMatchObject({ code: "validation_input" });
  await first.close();

  folder.write("unlisted", "");
  const second = await open(folder);
  expect((await discover(second, { server: "a" })).tools).toMatchObject([{ tool: "one" }]);
  expect(textOf(await second.mcpCall("a", "one", { b: 1 }))).toBe('one {"b":1}');
  expect(textOf(await second.mcpCall("a", "two"))).toBe("two {}");
  expect(await failedCall(second, "a", "badly")).toMatchObject({ code: "tool_not_found" });
  await second.close();
});

test("a server that fails to list its tools is shown with that reason and is asked again later", async () => {
  const folder = temp();
  const script = fileURLToPath(new URL("../fixture/no-list.mjs", import.meta.url));
  folder.writeConfig(
    { a: { command: process.execPath, args: [script, folder.path("unlisted")] } },
    { pool: { cooldownMs: 1 } },
  );
  folder.write("unlisted", "");
  const client = await open(folder);
  const reason = expect.stringMatching(/its tools could not be listed: not today/);
  expect(await discover(client, {})).toMatchObject({ servers: [{ name: "a", connected: true, reason }] });
  expect(await discover(client, { query: "one" })).toMatchObject({
    tools: [],
    unknown: [{ server: "a", reason }],
  });
  expect(textOf(await client.mcpCall("a", "one", { b: 1 }))).toBe('one {"b":1}');
  rmSync(folder.path("unlisted"));
  const mended = await until(async () => {
    const { tools } = await discover(client, { server: "a" });
    return (tools as unknown[]).length > 0 && tools;
  });
  expect(mended).toMatchObject([{ tool: "one" }]);
  expect(await discover(client, {})).not.toMatchObject({ servers: [{ reason }] });
  await client.close();
});

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
  const client = await open(folder);
  const hostile = `${"a".repeat(39)}!`;
  for (const name of Object.keys(schemas).slice(0, -1))
    expect(textOf(await client.mcpCall("a", name, { p: hostile, [hostile]: "x" })), name).toBe("");
  expect(textOf(await client.mcpCall("a", "fine", { p: "aa", q: "bb", message: "fits" }))).toBe("fits");
  for (const args of [{ p: "b" }, { q: "a" }])
    expect(await failedCall(client, "a", "fine", args)).toMatchObject({ code: "validation_input" });
  await client.close();
});

/** A config entry, and what its reason must match. */
const MALFORMED: Readonly<Record<string, readonly [entry: unknown, reason: RegExp]>> = {
  null: [null, /null/],
  number: [5, /number/],
  text: ["node server.js", /string/],
  list: [[], /list/],
  empty: [{}, /command .* or a url/],
  renamed: [{ serverUrl: "http://localhost" }, /rename "serverUrl" to "url"/],
  both: [{ command: "node", url: "http://localhost" }, /both command and url/],
  "no program": [{ command: " " }, /command is empty/],
  "command list": [{ command: ["node", "x"] }, /command is a list/],
  "args text": [{ command: "node", args: "x" }, /args is a string.*list/],
  "args number": [{ command: "node", args: [1] }, /args\[0\] is a number.*quotes/],
  "env number": [{ command: "node", env: { PORT: 1 } }, /env\.PORT is a number/],
  "env list": [{ command: "node", env: [] }, /env is a list/],
  "cwd number": [{ command: "node", cwd: 1 }, /cwd/],
  type: [{ type: "carrier-pigeon", command: "node" }, /carrier-pigeon.*stdio.*http.*sse/],
  mismatch: [{ type: "http", command: "node" }, /http.*command/],
  scheme: [{ url: "ftp://localhost/" }, /web address/],
  "no url": [{ url: "localhost" }, /web address/],
  userinfo: [{ url: "http://me:hush@localhost/" }, /password/],
  header: [{ url: "http://localhost/", headers: { A: "b\nc" } }, /headers\.A/],
  variable: [
    { command: "node", args: [`\${METAMCP_TEST_NO_SUCH}`] },
    /METAMCP_TEST_NO_SUCH is not set.*args\[0\]/,
  ],
  retry: [{ command: "node", retry: "always" }, /retry is "always"/],
  isolation: [{ command: "node", isolation: true }, /isolation/],
  tools: [{ command: "node", tools: "all" }, /tools is a string/],
  disabled: [{ command: "node", disabled: "yes" }, /disabled/],
  metamcp: [{ command: "node" }, /reserved/],
};

test("each malformed config entry is shown with its reason, and the other servers run", async () => {
  const folder = temp();
  const broken = Object.entries(MALFORMED).map(([name, [entry]]) => [name, entry]);
  folder.writeConfig({ ...Object.fromEntries(broken), well: fixture() });
  const client = await open(folder, "--log-level", "error");
  const { servers = [] } = await discover(client);
  for (const [name, [, reason]] of Object.entries(MALFORMED)) {
    const shown = servers.find((server) => server.name === name);
    expect(shown, name).toMatchObject({ state: "failed", connected: false, toolCount: 0 });
    expect(shown?.reason, name).toMatch(reason);
  }
  expect(servers).toHaveLength(broken.length + 1);
  const error = await failedCall(client, "both", "echo");
  expect(error).toMatchObject({ code: "server_unavailable", server: "both", retryable: false });
  expect(error["message"]).toMatch(/both command and url/);
  expect(textOf(await client.mcpCall("well", "echo", { message: "hi" }))).toBe("hi");
  expect(client.stderr).toMatch(/args is a string/);
  expect(client.stderr).not.toContain("hush");
  await client.close();
});

test("a disabled server and a denied tool are neither found nor callable", async () => {
  const folder = temp();
  const journal = folder.journal();
  const tools = { allow: ["e*", "add", "count*"], deny: ["count_*", "env"] };
  folder.writeConfig({
    off: { ...fixture("--journal", journal.file), disabled: true },
    on: { ...fixture("--journal", journal.file), tools },
  });
  const client = await open(folder);
  const { servers } = await discover(client);
  expect(servers).toMatchObject([{ name: "on", toolCount: 3 }]);
  expect(await failedCall(client, "off", "echo")).toMatchObject({ code: "server_not_found" });
  for (const tool of ["env", "count_unsafe", "crash"]) {
    const error = await failedCall(client, "on", tool, { key: "k" });
    expect(error).toMatchObject({ code: "tool_not_found" });
    expect(JSON.stringify(error["details"])).not.toContain(tool);
  }
  const found = await discover(client, {
    query: "names of its variables, count what must not be repeated",
    limit: 100,
  });
  const names = found.tools?.map(({ tool }) => tool);
  expect(names).toContain("count");
  for (const denied of ["env", "count_unsafe", "crash"]) expect(names).not.toContain(denied);
  expect(journal.pids()).toHaveLength(1);
  expect(journal.methods()).not.toContain("tools/call");
  await client.close();
});

test("a missing command, folder or script is reported with what to do", async () => {
  const folder = temp();
  folder.writeConfig({
    command: { command: "no-such-command-anywhere" },
    folder: { ...fixture(), cwd: "no-such-folder" },
    script: { command: process.execPath, args: ["no-such-script.mjs"] },
  });
  const client = await open(folder, "--log-level", "error");
  const [command, place, script] = await Promise.all(
    ["command", "folder", "script"].map((name) => failedCall(client, name, "echo")),
  );
  for (const error of [command, place, script])
    expect(error).toMatchObject({ code: "server_unavailable", retryable: true });
  expect(command?.["message"]).toMatch(/"no-such-command-anywhere" was not found.*Install it/);
  expect(place?.["message"]).toMatch(/no-such-folder/);
  expect(script?.["message"]).toMatch(/exited with code 1.*no-such-script/s);
  await client.close();
});

test("a result of 50 MB is forwarded, and one over --max-message is an error that keeps the connection", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) }, { maxResultBytes: 100_000_000 });
  const client = await open(folder);
  const whole = await client.mcpCall("a", "big", { bytes: 50_000_000 });
  expect(textOf(whole)).toHaveLength(50_000_000 - '{"content":[{"type":"text","text":""}]}'.length);
  await client.close();

  const small = await open(folder, "--max-message", "100000", "--log-level", "error");
  const error = await failedCall(small, "a", "big", { bytes: 200_000 });
  expect(error).toMatchObject({ code: "result_too_large", server: "a", retryable: false });
  expect(error["message"]).toMatch(/200\d\d\d bytes.*100000.*--max-message/);
  const request = await small.request("tools/call", {
    name: "mcp_call",
    arguments: { server: "x".repeat(100_000) },
  });
  expect(request.error).toMatchObject({ code: -32600, message: expect.stringMatching(/--max-message/) });
  expect(textOf(await small.mcpCall("a", "echo", { message: "alive" }))).toBe("alive");
  expect(journal.pids()).toHaveLength(2);
  await small.close();
});

test("a client's answer over --max-message fails the child's question and keeps the connection", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--max-message", "100000"] });
  client.reply = () => ({ result: { action: "accept", content: { name: "x".repeat(200_000) } } });
  await client.initialize({ elicitation: {} });
  const result = await client.mcpCall("a", "ask");
  expect(JSON.stringify(result["structuredContent"])).toMatch(/over the limit/);
  await client.close();
});

test("our own tools reject unknown fields and wrong types and name the valid ones", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = await open(folder);
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

test("an invalid request gets a JSON-RPC error, and the next request is served", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder);
  const early = await client.request("tools/list");
  expect(early.error).toMatchObject({ code: -32600, message: expect.stringMatching(/initialize/) });
  expect((await client.request("ping")).result).toEqual({});
  for (const params of [
    undefined,
    {},
    [],
    { protocolVersion: 1, capabilities: {} },
    { protocolVersion: "2025-11-25", capabilities: [] },
  ])
    expect((await client.request("initialize", params)).error).toMatchObject({ code: -32602 });
  expect((await client.initialize({}, "1999-01-01")).result).toMatchObject({ protocolVersion: "2025-11-25" });
  expect((await client.initialize()).error).toMatchObject({ code: -32600 });

  const withoutId: [line: string, code: number][] = [
    ["this is no JSON", -32700],
    ['{"jsonrpc":"2.0","method":', -32700],
    ['{"jsonrpc":"2.0","method":"ping"}}', -32700],
    ["[]", -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', -32600],
    ["null", -32600],
    ["{}", -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ];
  for (const [line, code] of withoutId) {
    const answer = client.answer("null");
    client.write(`${line}\n`);
    expect((await answer).error, line).toMatchObject({ code, message: expect.any(String) });
  }
  const withId: [line: string, code: number][] = [
    ['{"jsonrpc":"2.0","id":"x","method":5}', -32600],
    ['{"jsonrpc":"1.0","id":"x","method":"ping"}', -32600],
    ['{"id":"x","method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":"x","method":"ping","params":"none"}', -32600],
    ['{"jsonrpc":"2.0","id":"x","method":"ping","params":{]}', -32700],
    ['{"jsonrpc":"2.0","id":"x"}', -32600],
  ];
  for (const [line, code] of withId) {
    const answer = client.answer('"x"');
    client.write(`${line}\n`);
    expect((await answer).error, line).toMatchObject({ code });
  }
  // Unexpected answers and unknown notifications are ignored.
  client.write(
    '{"jsonrpc":"2.0","id":77,"result":{}}\n{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}\n\n',
  );
  client.notify("notifications/no_such_thing", { a: 1 });
  client.notify("notifications/cancelled", { requestId: 12_345 });

  for (const method of ["no/such/method", "prompts/get", "server/discover", "__proto__"])
    expect((await client.request(method)).error, method).toMatchObject({ code: -32601 });
  for (const params of [undefined, [], {}, { name: 5 }, { name: "echo" }, { name: "toString" }]) {
    const { error, result } = await client.request("tools/call", params);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/Tools here: mcp_discover, mcp_provision, mcp_call/),
    });
    expect(result).toBeUndefined();
  }
  expect((await client.request("tools/list", { cursor: "x" })).error).toMatchObject({ code: -32602 });
  const same = [
    client.requestRaw(
      '"twice"',
      "tools/call",
      '{"name":"mcp_call","arguments":{"server":"a","tool":"sleep","args":{"ms":1}}}',
    ),
  ];
  client.write('{"jsonrpc":"2.0","id":"twice","method":"ping"}\n');
  expect((await same[0])?.error).toMatchObject({ code: -32600, message: expect.stringMatching(/id/) });
  expect(textOf(await client.mcpCall("a", "echo", { message: "still here" }))).toBe("still here");
});

test("a child's isError result is forwarded unchanged, and its JSON-RPC error becomes execution_failed with all details", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = await open(folder);
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
