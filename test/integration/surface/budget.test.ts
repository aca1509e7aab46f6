/**
 * Results over the budget: the client gets a preview of at most 4 KB and can read the whole result in pages.
 * Other clients cannot.
 */
import { expect, test } from "vitest";
import { envelope, era2026Headers } from "../../support/eras.ts";
import { gateway } from "../../support/gateway.ts";
import { httpGateway, messages } from "../../support/http-gateway.ts";
import { failureOf } from "../../support/meta.ts";
import { Metatools, runVerbatim, verbatim } from "../../support/metatools.ts";
import { type Answer, RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";

const NEXT = "metamcp/next";
const PREVIEW = 4_096;
const PAGE = 32 * 1024;

type Result = Record<string, unknown>;

/** The `result` member exactly as received. */
function resultIn({ raw }: Answer): string {
  const text = raw.toString();
  return text.slice(text.indexOf('"result":') + 9, -1);
}

function linkIn(result: Result | undefined): { uri: string; size: number } {
  const blocks = result?.["content"] as { type: string; uri: string; size: number }[];
  const link = blocks.find(({ type }) => type === "resource_link");
  if (!link) throw new Error(`no link: ${JSON.stringify(result).slice(0, 500)}`);
  return link;
}

function nextOf(result: Result): string | undefined {
  return (result["_meta"] as Record<string, string> | undefined)?.[NEXT];
}

/** Reads the whole result page by page as resources. */
async function readAll(client: RawClient, first: string): Promise<string> {
  let whole = "";
  for (let uri: string | undefined = first; uri !== undefined; ) {
    const answer: Answer = await client.request("resources/read", { uri });
    expect(resultIn(answer).length).toBeLessThanOrEqual(PAGE);
    const { contents } = answer.result as { contents: { uri: string; text?: string; blob?: string }[] };
    expect(contents).toHaveLength(1);
    expect(contents[0]?.uri).toBe(uri);
    whole += contents[0]?.text ?? contents[0]?.blob ?? "";
    uri = nextOf(answer.result as Result);
  }
  return whole;
}

/** Removes the link to the next page, which must be at the end of the text. */
function withoutNextLink(text = "", next: string | undefined): string {
  if (next === undefined) return text;
  const end = `\n\nNext page: ${next}`;
  expect(text.slice(-end.length)).toBe(end);
  return text.slice(0, -end.length);
}

async function meta(folder: Temp): Promise<RawClient> {
  const client = gateway(folder, { flags: ["--log-level", "error"] });
  const { result } = await client.initialize();
  expect(result).toMatchObject({ capabilities: { resources: {} } });
  return client;
}

test("a result of 20 MB is returned as a preview of 4 KB and can be read completely", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = await meta(folder);
  const bytes = 20 * 1024 * 1024;
  const answer = await client.request("tools/call", {
    name: "mcp_call",
    arguments: { server: "a", tool: "big", args: { bytes } },
  });
  expect(resultIn(answer).length).toBeLessThanOrEqual(PREVIEW);
  const { uri, size } = linkIn(answer.result);
  expect(size).toBe(bytes);
  const whole = await readAll(client, uri);
  const direct = new RawClient(process.execPath, { args: fixture().args });
  await direct.initialize();
  const expected = resultIn(await direct.request("tools/call", { name: "big", arguments: { bytes } }));
  expect(whole.length).toBe(expected.length);
  expect(whole === expected).toBe(true);
  const listed = await client.request("resources/list");
  expect(listed.result).toMatchObject({ resources: [{ uri, name: "a:big", size: bytes }] });
  expect((await client.request("resources/templates/list")).result).toEqual({ resourceTemplates: [] });
  await client.close();
  await direct.close();
});

test("a result within the budget is unchanged, and the budget counts the bytes of the child's result", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() }, { maxResultBytes: 5_000 });
  const client = await meta(folder);
  const call = async (bytes: number): Promise<Answer> =>
    await client.request("tools/call", {
      name: "mcp_call",
      arguments: { server: "a", tool: "big", args: { bytes } },
    });
  expect(resultIn(await call(5_000)).length).toBe(5_000);
  expect(JSON.stringify((await call(5_001)).result)).toContain("resource_link");
  await client.close();

  folder.writeConfig({ a: fixture() });
  const usual = await meta(folder);
  const near = await usual.mcpCall("a", "big", { bytes: 102_400 });
  expect(JSON.stringify(near).length).toBe(102_400);
  expect(JSON.stringify(await usual.mcpCall("a", "big", { bytes: 102_401 })).length).toBeLessThan(PREVIEW);
  await usual.close();
});

test("clients without resources read stored results with a tool, and each page ends with the next address", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder), a: fixture() });
  const client = await meta(folder);
  const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `"名前" ${id}\n` }));
  const written = `{"content":[{"type":"text","text":"rows"}],"structuredContent":{"long":12345678901234567890,"rows":${JSON.stringify(rows)}}}`;
  const short = await client.mcpCall("v", "give", { result: written });
  expect(JSON.stringify(short).length).toBeLessThanOrEqual(PREVIEW);
  expect(short["structuredContent"]).toMatchObject({ rows: expect.arrayContaining([rows[0]]) });
  let whole = "";
  for (let uri: string | undefined = linkIn(short).uri; uri !== undefined; ) {
    const page = await client.mcpCall("metamcp", "read", { uri });
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(PAGE);
    const content = page["content"] as { text?: string }[];
    expect(content).toHaveLength(1);
    uri = nextOf(page);
    whole += withoutNextLink(content[0]?.text, uri);
  }
  expect(whole).toBe(written);

  const gone = failureOf(await client.mcpCall("metamcp", "read", { uri: "metamcp://result/nothing" }));
  expect(gone).toMatchObject({
    code: "execution_failed",
    message: expect.stringMatching(/^Stored result not found or expired.*Run the tool again/),
  });
  expect(failureOf(await client.mcpCall("metamcp", "read", {}))).toMatchObject({ code: "validation_input" });
  expect(failureOf(await client.mcpCall("metamcp", "write", {}))).toMatchObject({ code: "tool_not_found" });
  expect((await client.request("resources/read", { uri: "metamcp://result/nothing" })).error).toMatchObject({
    code: -32002,
  });
  expect((await client.request("resources/read", { uri: "file:///etc/passwd" })).error).toMatchObject({
    code: -32002,
  });
  expect((await client.request("resources/read", {})).error).toMatchObject({ code: -32602 });
  await client.close();
});

test("an ordinary screenshot reaches the model on every surface, from code and in a chain", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const picture = { type: "image", data: "iVBO".repeat(30_000), mimeType: "image/png" };
  const result = JSON.stringify({ content: [{ type: "text", text: "done" }, picture] });
  const code = `const r = await servers.v.call("give", { result: ${JSON.stringify(result)} });\nr`;
  const client = await meta(folder);
  expect((await client.mcpCall("v", "give", { result }))["content"]).toEqual([
    { type: "text", text: "done" },
    picture,
  ]);
  const returned = (await client.tool("mcp_execute", { code })) as Result;
  const [text, image] = returned["content"] as { text: string }[];
  expect(image).toEqual(picture);
  expect(text?.text).toContain("120,000 bytes, shown as content");
  expect(JSON.stringify(returned).length).toBeLessThan(125_000);
  await client.close();

  const tools = await Metatools.open(folder);
  const give = runVerbatim(result);
  const ran = await tools.call("run_tool", { ...give, include_mcp_result: true });
  expect(ran.content.filter(({ type }) => type === "image")).toEqual([picture]);
  expect(ran.bytes).toBeLessThan(125_000);
  const chain = await tools.call("run_chain", { steps: [give, give] });
  expect(chain.content.filter(({ type }) => type === "image")).toEqual([picture, picture]);
  const executed = await tools.call("execute_code", { language: "javascript", code });
  expect(executed.content.filter(({ type }) => type === "image")).toEqual([picture]);
  await tools.client.close();
});

test("a large text of code is announced with its own size", async () => {
  const folder = temp();
  folder.writeConfig({});
  const client = await meta(folder);
  const short = (await client.tool("mcp_execute", { code: "'x'.repeat(200000)" })) as Result;
  expect((short["content"] as { text: string }[])[0]?.text).toMatch(/^This result has 200,\d\d\d bytes/);
  expect(linkIn(short).size).toBeLessThan(201_000);
  await client.close();
});

test("images and audio of stored results are returned as such, not as text", async () => {
  const folder = temp();
  folder.writeConfig({ v: verbatim(folder) });
  const client = await meta(folder);
  const data = Buffer.from(Array.from({ length: 90_000 }, (_, n) => (n * 31) & 255)).toString("base64");
  const small = Buffer.alloc(300, 9).toString("base64");
  const result = {
    content: [
      { type: "text", text: "word ".repeat(30_000) },
      { type: "image", data, mimeType: "image/png" },
      { type: "audio", data: small, mimeType: "audio/wav" },
    ],
  };
  const short = await client.mcpCall("v", "give", { result: JSON.stringify(result) });
  const { uri } = linkIn(short);
  expect(await readAll(client, uri)).toBe(JSON.stringify(result));
  const blocks: { type: string; text?: string }[] = [];
  for (let at: string | undefined = uri; at !== undefined; ) {
    const page = await client.mcpCall("metamcp", "read", { uri: at });
    const content = page["content"] as { type: string; text?: string }[];
    at = nextOf(page);
    const last = content.at(-1) as { type: string; text?: string };
    last.text = withoutNextLink(content.length > 1 ? `\n\n${last.text}` : last.text, at);
    blocks.push(...content.filter(({ text }) => text !== ""));
  }
  const others = blocks.map(({ type }) => type).filter((type) => type !== "text");
  expect(others).toEqual(["resource", "resource", "resource", "resource", "audio"]);
  const texts = blocks.flatMap(({ text }) => text ?? []).join("");
  expect(texts.replaceAll("word ", "").length).toBeLessThan(400);
  await client.close();
});

test("metatools return previews as values, offer metamcp:read, and use whole values inside chains", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const items = Array.from({ length: 9_000 }, (_, id) => ({ id }));
  const result = { content: [], structuredContent: { items } };
  const short = await metatools.call("run_tool", { ...runVerbatim(result), include_mcp_result: true });
  expect(short.bytes).toBeLessThanOrEqual(PREVIEW + 60);
  expect(short.value.structured.items[0]).toEqual({ id: 0 });
  expect(short.value).not.toHaveProperty("mcpResult");
  const { uri } = linkIn({ content: short.content });
  let whole = "";
  for (let at: string | undefined = uri; at !== undefined; ) {
    const page = await metatools.call("run_tool", { tool_id: "metamcp:read", args: { uri: at } });
    expect(page.bytes).toBeLessThanOrEqual(PAGE);
    at = page.meta?.[NEXT] as string | undefined;
    whole += withoutNextLink(page.text, at);
    expect(page.value.structured).toEqual(at === undefined ? {} : { next: at });
  }
  expect(whole).toBe(JSON.stringify(result));
  expect(
    (await metatools.call("run_tool", { tool_id: "metamcp:read", args: { uri: `${uri}x` } })).error,
  ).toMatchObject({
    code: "execution_failed",
    tool_id: "metamcp:read",
  });

  const big = { tool_id: "a:big", args: { bytes: 20_000_000 } };
  const chain = await metatools.call("run_chain", { steps: [big] });
  expect(chain.bytes).toBeLessThanOrEqual(PREVIEW + 60);
  const picked = await metatools.call("run_chain", {
    steps: [
      runVerbatim(result),
      { tool_id: "a:add", args: { a: { $from: "steps/0/structured/items/8999/id" }, b: 1 } },
    ],
  });
  expect(picked.value.final).toEqual({ sum: 9_000 });
  expect(picked.bytes).toBeLessThan(PREVIEW);
  await metatools.close();
});

test("a preview stays within 4 KB together with all optional parts", async () => {
  const folder = temp();
  const long = { name: "long", description: "A long story. ".repeat(1_000), inputSchema: { type: "object" } };
  const short = { name: "short", inputSchema: { type: "object" } };
  folder.writeConfig({ v: verbatim(folder, [long, short]) });
  const metatools = await Metatools.open(folder);
  for (const [tool, shown] of [
    ["long", false],
    ["short", true],
  ] as const) {
    const told = await metatools.call("run_tool", {
      tool_id: `v:${tool}`,
      args: { rows: Array.from({ length: 9_000 }, (_, id) => ({ id })) },
      include_tool: true,
      include_backend: true,
      include_mcp_result: true,
    });
    expect(told.bytes).toBeLessThanOrEqual(PREVIEW + 60);
    expect(told.value.structured.args.rows[0]).toEqual({ id: 0 });
    expect([told.value.backend.server, "tool" in told.value]).toEqual(["v", shown]);
    expect(linkIn({ content: told.content }).uri).toMatch(/^metamcp:/);
  }
  await metatools.close();
});

test("all results of a chain share one budget", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const metatools = await Metatools.open(folder);
  const steps = Array.from({ length: 10 }, () => ({ tool_id: "a:big", args: { bytes: 60_000 } }));
  const told = await metatools.call("run_chain", { steps });
  // The value appears as structured content and as text, and the last step again as the final value.
  expect(told.bytes).toBeLessThan(300_000);
  expect(told.value.final).toHaveLength(60_000 - 39);
  await metatools.close();
});

test("previews in a chain of many steps are smaller, and results below the preview size are shown whole", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() }, { maxResultBytes: 3_000 });
  const metatools = await Metatools.open(folder);
  const chain = async (bytes: number) =>
    await metatools.call("run_chain", {
      steps: Array.from({ length: 32 }, () => ({ tool_id: "a:big", args: { bytes } })),
    });
  const large = await chain(2_500);
  expect(large.bytes).toBeLessThan(40_000);
  expect(large.value.final).toHaveLength(2_500 - 39);
  const small = await chain(700);
  expect(small.content).toHaveLength(1);
  for (const { structured } of small.value.results) expect(structured).toHaveLength(700 - 39);
  await metatools.close();
});

test("failed steps and read pages of a chain share its budget, except for the last page", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder) });
  const metatools = await Metatools.open(folder);
  const steps = (step: object) => Array.from({ length: 32 }, () => step);
  const isErrorStep = runVerbatim({ content: [{ type: "text", text: "e".repeat(7_900) }], isError: true });
  const rpcErrorStep = { tool_id: "a:fail", args: { message: "m".repeat(30_000) } };
  for (const step of [isErrorStep, rpcErrorStep]) {
    const told = await metatools.call("run_chain", { steps: steps(step), on_error: "continue" });
    expect(told.bytes).toBeLessThan(260_000);
    expect(told.value.results).toHaveLength(32);
    for (const { error } of told.value.results) expect(error.code).toBe("execution_failed");
    expect(told.value.results.at(-1).error).toHaveProperty("details");
    expect((await metatools.call("run_tool", step)).bytes).toBeLessThan(40_000);
  }
  const big = await metatools.call("run_tool", { tool_id: "a:big", args: { bytes: 200_000 } });
  const { uri } = linkIn({ content: big.content });
  const read = { tool_id: "metamcp:read", args: { uri } };
  const pages = await metatools.call("run_chain", { steps: steps(read) });
  expect(pages.bytes).toBeLessThan(500_000);
  expect(pages.value.final.length).toBeGreaterThan(30_000);
  await metatools.close();
});

test("a preview in a chain stays within 4 KB, also with a long tool name and escaped characters", async () => {
  const folder = temp();
  const name = "long_name_".repeat(12);
  folder.writeConfig({ v: verbatim(folder, [{ name, inputSchema: { type: "object" } }]) });
  const metatools = await Metatools.open(folder);
  for (const text of ['"\\'.repeat(100_000), '"a'.repeat(100_000)]) {
    const { bytes } = await metatools.call("run_chain", {
      steps: [{ tool_id: `v:${name}`, args: { text } }],
    });
    expect(bytes).toBeLessThanOrEqual(PREVIEW + 60);
  }
  await metatools.close();
});

test("large failures are shortened to a preview, and their full text can be read", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture(), v: verbatim(folder) });
  const client = await meta(folder);
  const words = "what went wrong, ".repeat(20_000);
  const result = JSON.stringify({ content: [{ type: "text", text: words }], isError: true });
  const failed = await client.mcpCall("v", "give", { result });
  expect(failed).toMatchObject({ isError: true });
  expect(JSON.stringify(failed).length).toBeLessThanOrEqual(PREVIEW);
  expect(await readAll(client, linkIn(failed).uri)).toBe(result);
  const refused = await client.mcpCall("a", "fail", {
    code: -32001,
    message: words,
    data: { list: Array(9_000).fill(words.slice(0, 17)) },
  });
  expect(JSON.stringify(refused).length).toBeLessThan(12_000);
  expect(failureOf(refused)).toMatchObject({
    code: "execution_failed",
    details: { code: -32001, data: { list: expect.any(Array) } },
  });
  await client.close();

  const metatools = await Metatools.open(folder);
  const quoted = JSON.stringify({ content: [{ type: "text", text: '"'.repeat(200_000) }], isError: true });
  for (const whole of [result, quoted]) {
    const step = runVerbatim(whole);
    const { error, bytes, content } = await metatools.call("run_tool", { ...step, include_tool: true });
    expect(bytes).toBeLessThanOrEqual(PREVIEW + 60);
    const { uri } = linkIn({ content });
    expect(error).toMatchObject({ code: "execution_failed", details: { bytes: whole.length, uri } });
    expect(await readAll(metatools.client, uri)).toBe(whole);
    const chain = await metatools.call("run_chain", { steps: [step] });
    expect(chain.bytes).toBeLessThanOrEqual(PREVIEW + 60);
    expect(chain.error).toMatchObject({ details: { cause: { code: "execution_failed" } } });
    expect(await readAll(metatools.client, linkIn({ content: chain.content }).uri)).toBe(whole);
  }
  await metatools.close();
});

test("a client without structured content gets instructions in the text for reading on", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--surface", "metatools", "--log-level", "error"] });
  await client.initialize({}, "2024-11-05");
  const result = await client.tool("run_tool", { tool_id: "a:big", args: { bytes: 200_000 } });
  const [shown] = result["content"] as { text: string }[];
  expect(shown?.text).toMatch(/Read on with run_tool \{tool_id: "metamcp:read", .*await read\(.*\nxxx/);
  expect(JSON.stringify(result).length).toBeLessThanOrEqual(PREVIEW);
  await client.close();
});

test("clients without sessions read stored results and cursors by their address", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--tools", "30") });
  for (const flags of [[], ["--stateless"]]) {
    const http = await httpGateway(folder, ...flags, "--surface", "metatools");
    const ask = async (method: string, params: Result) => {
      const era2026 = flags.length === 0;
      const headers = era2026 ? era2026Headers(method, params) : { "mcp-protocol-version": "2025-11-25" };
      const body = { id: 1, method, params: era2026 ? { ...params, _meta: envelope({}) } : params };
      const answers = await messages(await http.post(body, headers));
      return answers.at(-1) as { result?: Result & { structuredContent: Result }; error?: { code: number } };
    };
    const big = { name: "run_tool", arguments: { tool_id: "a:big", args: { bytes: 200_000 } } };
    const { result } = await ask("tools/call", big);
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(PREVIEW);
    expect((await ask("resources/read", { uri: linkIn(result).uri })).result).toHaveProperty("contents");
    // Callers that cannot be distinguished find a result only by its address.
    expect((await ask("resources/list", {})).result).toMatchObject({ resources: [] });
    const first = (await ask("tools/call", { name: "list_tools", arguments: { limit: 10 } })).result;
    const { nextCursor: cursor, tools } = first?.structuredContent as { nextCursor: string; tools: object[] };
    const second = (await ask("tools/call", { name: "list_tools", arguments: { limit: 10, cursor } })).result;
    expect(second?.structuredContent["tools"]).toHaveLength(10);
    expect(second?.structuredContent["tools"]).not.toEqual(tools);
    await http.stop();
  }
});

test("another session can use neither stored results nor cursors", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const http = await httpGateway(folder);
  const mine = await http.open();
  const yours = await http.open();
  const ask = async (session: Record<string, string>, method: string, params: object) =>
    (await messages(await http.post({ id: 1, method, params }, session))).at(-1) as {
      result?: Result;
      error?: { code: number };
    };
  const args = { server: "a", tool: "big", args: { bytes: 200_000 } };
  const { result } = await ask(mine, "tools/call", { name: "mcp_call", arguments: args });
  const { uri } = linkIn(result);
  expect((await ask(mine, "resources/read", { uri })).result).toHaveProperty("contents");
  expect((await ask(yours, "resources/read", { uri })).error).toMatchObject({ code: -32002 });
  const read = { server: "metamcp", tool: "read", args: { uri } };
  expect((await ask(yours, "tools/call", { name: "mcp_call", arguments: read })).result).toMatchObject({
    isError: true,
  });
  expect((await ask(yours, "resources/list", {})).result).toEqual({ resources: [] });

  const page = async (session: Record<string, string>, cursor?: string) =>
    await ask(session, "tools/call", { name: "mcp_discover", arguments: { server: "a", limit: 2, cursor } });
  const { content } = (await page(mine)).result as { content: { text: string }[] };
  const { nextCursor } = JSON.parse(content[0]?.text ?? "") as { nextCursor: string };
  expect(await page(mine, nextCursor)).toHaveProperty("result");
  expect((await page(yours, nextCursor)).error).toMatchObject({ code: -32602 });
  await http.stop();
});

test("the aggregate surface returns results whole", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const client = gateway(folder, { flags: ["--surface", "aggregate", "--log-level", "error"] });
  await client.initialize();
  await client.request("tools/list");
  const result = await client.tool("a__big", { bytes: 300_000 });
  expect(JSON.stringify(result).length).toBe(300_000);
  await client.close();
});

test("lists of servers and tools, and descriptions, stay within the budget", async () => {
  const folder = temp();
  const properties = Object.fromEntries(
    Array.from({ length: 90 }, (_, n) => [`p${n}`, { type: "string", description: "word ".repeat(20) }]),
  );
  const tools = Array.from({ length: 30 }, (_, n) => ({
    name: `tool${n}`,
    inputSchema: { type: "object", properties },
  }));
  const huge = {
    name: "huge",
    inputSchema: { type: "object", properties: { x: { description: "y ".repeat(80_000) } } },
  };
  const dead = Array.from({ length: 400 }, (_, n) => [
    `server-${n}`,
    { command: 7, args: ["x".repeat(200)] },
  ]);
  folder.writeConfig({ ...Object.fromEntries(dead), v: verbatim(folder, [...tools, huge]) });
  const client = await meta(folder);
  const pages = async (args: object, member: string): Promise<string[]> => {
    const names: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const result = (await client.tool("mcp_discover", { ...args, ...(cursor && { cursor }) })) as Result;
      expect(JSON.stringify(result).length).toBeLessThanOrEqual(102_400);
      const page = JSON.parse((result["content"] as { text: string }[])[0]?.text ?? "") as Result;
      names.push(
        ...(page[member] as { name?: string; tool?: string }[]).map(({ name, tool }) => name ?? tool ?? ""),
      );
      cursor = page["nextCursor"] as string | undefined;
      if (cursor === undefined) return names;
    }
  };
  const first = (await client.tool("mcp_discover", { limit: 5 })) as Result;
  expect(JSON.parse((first["content"] as { text: string }[])[0]?.text ?? "").servers).toHaveLength(5);
  expect(new Set(await pages({ limit: 100 }, "servers")).size).toBe(401);
  const listed = (await client.tool("mcp_discover", { server: "v", detail: "schema", limit: 100 })) as Result;
  expect(JSON.stringify(listed).length).toBeLessThanOrEqual(102_400);
  const page = JSON.parse((listed["content"] as { text: string }[])[0]?.text ?? "") as {
    tools: unknown[];
    nextCursor: string;
  };
  expect(page.tools.length).toBeGreaterThan(3);
  expect(page.nextCursor).toBeDefined();
  await client.close();

  const metatools = await Metatools.open(folder);
  const described = await metatools.call("describe_tool", { tool_id: "v:huge", detail_level: "schema" });
  expect(described.bytes).toBeLessThan(PREVIEW + 200);
  expect(described.value.notes).toContain("maxResultBytes");
  await metatools.close();
});
