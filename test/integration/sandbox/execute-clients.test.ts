/**
 * Code of several clients at once: questions and progress reach only the client whose code caused them, and
 * the rules apply to calls from code.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { httpGateway } from "../../support/http-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";

interface Structured {
  readonly value?: unknown;
  readonly error?: { readonly code: string };
}

async function client(url: string, name: string) {
  const one = new Client({ name, version: "1" }, { capabilities: { elicitation: {} } });
  const asked: string[] = [];
  one.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { name } };
  });
  await one.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
  onTestFinished(() => one.close());
  const progress: string[] = [];
  const run = async (code: string): Promise<Structured> => {
    const { structuredContent } = await one.callTool(
      { name: "mcp_execute", arguments: { code } },
      undefined,
      { onprogress: ({ message = "" }) => progress.push(message) },
    );
    return structuredContent as Structured;
  };
  return { run, asked, progress };
}

test("questions and progress of code reach the client that runs it while several clients run code", async () => {
  const folder = temp();
  folder.writeConfig({
    a: { ...fixture(), isolation: "session" },
    careful: { ...fixture(), tools: { ask: ["echo"] } },
  });
  const { url } = await httpGateway(folder);
  const clients = await Promise.all(["ada", "bob", "cy"].map((name) => client(url, name)));
  const values = await Promise.all(
    clients.map(({ run }, n) =>
      run(`
        progress(1, 3, "begun by ${n}");
        const own = await tools.a.ask({ message: "who is ${n}?" });
        await tools.careful.echo({ message: "of ${n}" });
        own.answer.content.name`),
    ),
  );
  expect(values.map(({ value }) => value)).toEqual(["ada", "bob", "cy"]);
  for (const [n, { asked, progress }] of clients.entries()) {
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain(`who is ${n}?`);
    expect(progress).toContain(`begun by ${n}`);
    expect(progress.filter((message) => /begun by/.test(message))).toHaveLength(1);
  }
});

test("code that computes all the time does not block the code of another client", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture() });
  const { url } = await httpGateway(folder);
  const bad = await client(url, "bad");
  const good = await client(url, "good");
  const spin =
    "for (let i = 0; i < 3; i++) { const end = Date.now() + 800; while (Date.now() < end); await sleep(0) }";
  let over = false;
  // The attacks end only after the other client is served. If it had to wait for them, it would wait forever.
  const attacks = Array.from({ length: 3 }, async () => {
    while (!over) await bad.run(spin);
  });
  for (let n = 0; n < 3; n++)
    expect(await good.run(`await tools.a.echo({ message: "${n}" })`)).toMatchObject({ value: n });
  over = true;
  await Promise.all(attacks);
});

test("code cannot use denied tools, disabled servers, our own tools or a blocked server", async () => {
  const folder = temp();
  folder.writeConfig({
    a: { ...fixture(), tools: { deny: ["add"] } },
    off: { ...fixture(), disabled: true },
    broken: { command: process.execPath, args: ["-e", "process.exit(3)"], retry: "never" },
  });
  const one = gateway(folder, { flags: ["--failure-threshold", "2", "--cooldown", "60000"] });
  await one.initialize();
  const code = `
    const codeOf = (promise) => promise.then(() => "went through", (error) => error.code);
    const names = [["a", "add"], ["a", "Add"], ["a", "a-d-d"], ["off", "echo"], ["__proto__", "constructor"], ["metamcp", "mcp_execute"], ["metamcp", "mcp_provision"], ["metamcp", "mcp_call"]];
    const refused = [];
    for (const [server, tool] of names) refused.push(await codeOf(servers[server].call(tool, { a: 1, b: 2, code: "1" })));
    refused.push(await codeOf(describe("a:add")), await codeOf(describe("off:echo")));
    const found = (await search("add two numbers", { limit: 100 })).filter(({ tool, server }) => tool === "add" || server === "off");
    const broken = [];
    for (let i = 0; i < 4; i++) broken.push(await servers.broken.call("x").catch((error) => error.code + " " + error.message));
    ({ refused, found, broken, listed: Object.keys(servers) })`;
  const { structuredContent } = (await one.tool("mcp_execute", { code })) as {
    structuredContent: { value: { refused: string[]; found: unknown[]; broken: string[]; listed: string[] } };
  };
  const { refused, found, broken, listed } = structuredContent.value;
  expect(refused).toEqual([
    "tool_not_found",
    "tool_not_found",
    "tool_not_found",
    "server_not_found",
    "server_not_found",
    "tool_not_found",
    "tool_not_found",
    "tool_not_found",
    "tool_not_found",
    "server_not_found",
  ]);
  expect(found).toEqual([]);
  expect(listed).not.toContain("off");
  for (const one of broken) expect(one).toMatch(/^server_unavailable/);
  expect(broken.at(-1)).not.toBe(broken[0]);
  await one.close();
});
