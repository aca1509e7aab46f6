/** A model that sees only the text of results can use everything, on both surfaces that search tools. */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { textOf } from "../../support/meta.ts";
import { runVerbatim, verbatim } from "../../support/metatools.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";

interface Model {
  readonly client: RawClient;
  /** Runs a tool of a server and returns all text of its result. */
  run(server: string, tool: string, args?: object): Promise<string>;
  /** The same for code. */
  code(code: string): Promise<string>;
  textOf(name: string, args?: object): Promise<string>;
}

const SURFACES = ["meta", "metatools"] as const;

async function open(folder: Temp, surface: (typeof SURFACES)[number]): Promise<Model> {
  const client = gateway(folder, { flags: ["--surface", surface, "--log-level", "error"] });
  await client.initialize();
  const textOf = async (name: string, args: object = {}): Promise<string> => {
    const { content } = (await client.tool(name, args)) as { content: { type: string; text?: string }[] };
    return content.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join("\n");
  };
  return {
    client,
    textOf,
    run: (server, tool, args = {}) =>
      surface === "meta"
        ? textOf("mcp_call", { server, tool, args })
        : textOf("run_tool", { tool_id: `${server}:${tool}`, args }),
    code: (code) =>
      surface === "meta"
        ? textOf("mcp_execute", { code })
        : textOf("execute_code", { language: "javascript", code }),
  };
}

function writeServers(folder: Temp): void {
  folder.writeConfig({
    lib: fixture(
      "--name",
      "lib",
      "--prompts",
      "2",
      "--resources",
      "3",
      "--templates",
      "1",
      "--instructions",
      "Keeps notes of the library. Ask for one at a time.",
    ),
    other: fixture("--name", "other", "--resources", "1"),
    v: verbatim(folder),
  });
}

test.each(SURFACES)(
  "on %s a model finds a tool, sees its parameters, corrects a call and runs it",
  async (surface) => {
    const folder = temp();
    writeServers(folder);
    const model = await open(folder, surface);
    const find = surface === "meta" ? "mcp_discover" : "search_tools";
    expect(await model.textOf(find, { query: "add two numbers" })).toContain('"add"');
    if (surface === "metatools")
      expect(await model.textOf("describe_tool", { tool_id: "lib:add", detail_level: "schema" })).toContain(
        '"inputSchema":{',
      );
    const wrong = await model.run("lib", "add", { a: 1 });
    expect(wrong).toMatch(/property 'b'.* Signature: add\(a: number, b: number\)\. b: \{"type":"number"\}/);
    expect(wrong).toMatch(/ Correct the arguments and call again\.$/);
    expect(await model.run("lib", "add", { a: 1, b: 2 })).toMatch(surface === "meta" ? /^3$/ : /"sum":3/);
    expect(await model.run("lib", "echo", { message: "hi" })).toBe("hi");
    expect(await model.run("lib", "ecko")).toMatch(/Nearest: echo.*Do not repeat the same call\.$/);
    expect(await model.run("lib", "fail", { message: "no", data: { why: "rain" } })).toMatch(
      /no\. Details: \{"why":"rain"\}/,
    );
    expect(await model.code("return (await tools.lib.add({ a: 2, b: 3 })).sum")).toMatch(/5/);
    await model.client.close();
  },
);

test.each(SURFACES)(
  "on %s a model reads a large result in pages, searches it, and uses it in code",
  async (surface) => {
    const folder = temp();
    writeServers(folder);
    const model = await open(folder, surface);
    const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n}${n === 12_345 ? " needle" : ""}`);
    const { args } = runVerbatim({ content: [{ type: "text", text: lines.join("\n") }] });
    const preview = await model.run("v", "give", args);
    expect(preview.length).toBeLessThan(4_096);
    const uri = /metamcp:\/\/result\/[\w-]+/.exec(preview)?.[0] ?? "";
    expect(preview).toContain("line 0\nline 1\n");

    let whole = "";
    for (let at: string | undefined = uri; at !== undefined; ) {
      const page = await model.run("metamcp", "read", { uri: at });
      expect(page.length).toBeLessThan(33_000);
      [, at] = /\n\nNext page: (metamcp:\/\/result\/[\w-]+\/text\/\d+)$/.exec(page) ?? [];
      whole += at === undefined ? page : page.slice(0, page.lastIndexOf("\n\n"));
    }
    expect(whole).toBe(lines.join("\n"));

    expect(await model.run("metamcp", "read", { uri, find: "NEEDLE" })).toBe(
      "12346: line 12345 needle\n(1 matching line shown, 20,000 lines in total.)",
    );
    expect(await model.run("metamcp", "read", { uri, from: 20_000 })).toMatch(/^20000: line 19999\n/);
    const tool = surface === "meta" ? "mcp_execute" : "execute_code";
    expect(preview).toContain(`in ${tool} without showing it: await read("${uri}")`);
    expect(await model.code(`(await read("${uri}")).split("\\n").length`)).toMatch(/\b20000\b/);
    expect(await model.code(`await read("${uri}", { find: "needle" })`)).toContain(
      "12346: line 12345 needle",
    );

    const gone = await model.run("metamcp", "read", { uri: "metamcp://result/nothing" });
    expect(gone).toMatch(
      /^execution_failed: Stored result not found or expired\..*otherwise change the call\.$/,
    );
    const twice = runVerbatim({
      content: [{ type: "text", text: whole }],
      structuredContent: { content: whole },
    });
    const again = /metamcp:\/\/result\/[\w-]+/.exec(await model.run("v", "give", twice.args))?.[0];
    expect((await model.run("metamcp", "read", { uri: again })).startsWith("line 0\nline 1\n")).toBe(true);
    expect(await model.run("metamcp", "read", { uri: again, from: 20_000 })).toMatch(/^20000: line 19999\n/);
    await model.client.close();
  },
);

test.each(SURFACES)(
  "on %s a model uses resources and prompts of servers, and links in results",
  async (surface) => {
    const folder = temp();
    writeServers(folder);
    const model = await open(folder, surface);
    const own = (tool: string, args: object) => model.run("metamcp", tool, args);
    expect(await own("resources", { server: "lib" })).toMatch(
      /"fixture:\/\/item\/0".*"fixture:\/\/by-id\/0\/\{id\}"/,
    );
    expect(await own("read", { uri: "x://y" })).toMatch(
      /^execution_failed: The server of x:\/\/y is not known: pass it as server\. These have resources: lib\./,
    );
    expect(await own("prompts", { server: "lib" })).toContain('"name":"prompt_1"');
    expect(await own("prompt", { server: "lib", name: "prompt_1", args: { topic: "tea" } })).toMatch(
      /topic.*tea/,
    );
    expect(await own("prompt", { server: "lib", name: "none" })).toMatch(/Unknown prompt: none/);
    expect(await own("prompts", { server: "lob" })).toMatch(/^server_not_found: .*Nearest: lib/);
    expect(await own("read", { uri: "fixture://item/2" })).toBe("lib fixture://item/2");
    expect(await own("read", { uri: "fixture://item/0", server: "other" })).toBe("other fixture://item/0");
    expect(await own("read", { uri: "odd://1" })).toMatch(/server of odd:.*is not known: pass it as server/);

    const link = { type: "resource_link", uri: "fixture://item/1", name: "one" };
    await model.run("v", "give", runVerbatim({ content: [link] }).args);
    expect(await own("read", { uri: link.uri })).toBe(`verbatim ${link.uri}`);
    const { result } = await model.client.request("resources/read", { uri: link.uri });
    expect(result).toEqual({ contents: [{ uri: link.uri, text: `verbatim ${link.uri}` }] });
    const read =
      'await read("fixture://by-id/0/7") + (await tools.metamcp.prompts({ server: "lib" })).prompts.length';
    expect(await model.code(read)).toContain("lib fixture://by-id/0/72");
    await model.client.close();
  },
);

test("mcp_discover says what each server is for, and what it offers besides tools", async () => {
  const folder = temp();
  writeServers(folder);
  const model = await open(folder, "meta");
  const { servers: all } = JSON.parse(await model.textOf("mcp_discover")) as { servers: { about: string }[] };
  expect(all.map(({ about }) => about)).toEqual([
    "Keeps notes of the library.",
    expect.stringMatching(/^echo, add, /),
    expect.stringMatching(/give/),
  ]);
  const { server } = JSON.parse(await model.textOf("mcp_discover", { server: "lib" })) as { server: object };
  expect(server).toMatchObject({
    instructions: "Keeps notes of the library. Ask for one at a time.",
    prompts: 2,
    resources: 4,
    more: 'mcp_call {server: "metamcp", tool: "prompts" | "resources", args: {server: "lib"}}',
  });
  for (const query of [{}, { query: "read a resource" }])
    expect(await model.textOf("mcp_discover", { server: "metamcp", ...query })).toContain(
      '"read(uri: string, ',
    );
  await model.client.close();

  const again = await open(folder, "meta");
  const known = JSON.parse(await again.textOf("mcp_discover", { server: "lib" })) as { server: object };
  expect(known.server).toMatchObject({ connected: false, prompts: 2, resources: 4 });
  await again.client.close();
});

test("metatools list and describe the tools of metamcp, and include the instructions of a server", async () => {
  const folder = temp();
  writeServers(folder);
  const model = await open(folder, "metatools");
  expect(await model.textOf("list_tools", { namespace: "metamcp" })).toMatch(
    /"metamcp:read".*"metamcp:resources".*"metamcp:prompts".*"metamcp:prompt"/,
  );
  expect(await model.textOf("describe_tool", { tool_id: "lib:echo", detail_level: "full" })).toContain(
    "Instructions of lib: Keeps notes of the library.",
  );
  await model.client.close();
});

test("code that exceeds a limit reports the limit and a summary of its calls once", async () => {
  const folder = temp();
  writeServers(folder);
  const model = await open(folder, "meta");
  const result = await model.client.tool("mcp_execute", {
    code: "for (let n = 0; n < 200; n++) await tools.lib.echo({ message: 'x' })",
  });
  expect(result["structuredContent"]).toMatchObject({
    error: { code: "sandbox_limit", details: { limit: "calls" } },
    calls: [{ server: "lib", tool: "echo", count: 100 }],
  });
  expect(JSON.stringify(result)).toContain("Calls made before the error: lib:echo ×100");
  expect(JSON.stringify(result).length).toBeLessThan(1_000);
  expect(await model.code("Object.keys(tools).join() + Object.keys(tools.lib).includes('echo')")).toContain(
    "lib,other,vtrue",
  );
  await model.client.close();
});

test("code lists the tools of a server that was not connected before", async () => {
  const folder = temp();
  writeServers(folder);
  const model = await open(folder, "meta");
  expect(await model.code("Object.keys(tools.other).length > 5")).toBe("true");
  await model.client.close();
});

test("a search without hits says what to do next", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--bare", "--tools", "2") });
  const client = gateway(folder, { flags: ["--surface", "meta", "--log-level", "error"] });
  await client.initialize();
  const find = async (query: string): Promise<object> =>
    JSON.parse(textOf(await client.tool("mcp_discover", { query }))) as object;
  expect(await find("quetzalcoatl")).toEqual({
    tools: [],
    next: "No tool matches. mcp_provision {intent} finds servers that have one.",
  });
  expect(await find("tool_0")).not.toHaveProperty("next");
  await client.close();
});

test("instructions match the surface, and do not grow with the number of servers", async () => {
  const folder = temp();
  const instructionsOf = async (surface: string, tools: string, count = 1): Promise<string> => {
    const names = Array.from({ length: count }, (_, n) => `server-number-${n}`);
    folder.writeConfig(Object.fromEntries(names.map((name) => [name, fixture("--bare", "--tools", tools)])));
    const client = gateway(folder, { flags: ["--surface", surface, "--log-level", "error"] });
    const { result } = await client.initialize();
    await client.close();
    return String(result?.["instructions"]);
  };
  expect(await instructionsOf("auto", "2")).not.toContain("mcp_discover");
  expect(await instructionsOf("auto", "100")).toContain("mcp_discover");
  for (const surface of SURFACES) {
    const [few, many] = [await instructionsOf(surface, "1"), await instructionsOf(surface, "1", 40)];
    expect(many.length - few.length).toBeLessThan(100);
    expect(many.length).toBeLessThan(800);
  }
});
