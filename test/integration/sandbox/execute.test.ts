/** Code through all parts: client, surface, sandbox, and calls from the sandbox to real children. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import { gone } from "../../support/processes.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** All descendants of the process. */
function childrenOf(pid: number): number[] {
  let listed = "";
  try {
    listed = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  } catch {
    // The process ended after it was listed.
  }
  const own = listed.split(" ").filter(Boolean).map(Number);
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}

interface Answer {
  readonly value?: unknown;
  readonly logs: readonly { level: string; text: string }[];
  readonly calls: readonly { server: string; tool: string; ms: number; error?: string }[];
  readonly durationMs: number;
}

const execute = (client: RawClient, code: string, more: object = {}, meta?: object) =>
  client.tool("mcp_execute", { code, ...more }, meta);
const answerOf = (result: Record<string, unknown>) => result["structuredContent"] as Answer;

async function start(
  servers: Record<string, object>,
  options: Parameters<typeof gateway>[1] = {},
  capabilities = {},
) {
  const folder = temp();
  folder.writeConfig(servers as never);
  const client = gateway(folder, options);
  await client.initialize(capabilities);
  return { client, folder };
}

test("code calls several tools and returns only its value", async () => {
  const { client } = await start({ a: fixture(), "b-c": fixture() });
  const listed = await client.request("tools/list");
  expect(listed.raw.length).toBeLessThan(2_200);
  expect(JSON.stringify(listed.result)).toContain("mcp_execute");

  const code = `
    const [one, two] = await Promise.all([tools.a.echo({ message: "1" }), tools.b_c.echo({ message: "2" })]);
    console.log("both", { one, two });
    const raw = await servers["b-c"].call("echo", { message: "3" });
    ({ sum: one + two, third: raw.content[0].text })`;
  const result = await execute(client, code);
  expect(result["isError"]).toBeUndefined();
  expect(answerOf(result)).toMatchObject({
    value: { sum: 3, third: "3" },
    logs: [{ level: "log", text: "both {one: 1, two: 2}" }],
    calls: [
      { server: "a", tool: "echo" },
      { server: "b_c", tool: "echo" },
      { server: "b-c", tool: "echo" },
    ],
  });
  expect(textOf(result)).toBe('both {one: 1, two: 2}\n{"sum":3,"third":"3"}');
  expect(await client.close()).toMatchObject({ code: 0 });
});

test("unknown names, invalid arguments and faulty code fail with an error that says what to do next", async () => {
  const { client } = await start({ alpha: fixture() });
  const caught = (call: string) => `try { await ${call} } catch (e) { e.code + ": " + e.message }`;
  const value = async (code: string) => answerOf(await execute(client, code)).value;
  expect(await value(caught("tools.alpa.echo({})"))).toMatch(/^server_not_found: .*Nearest: alpha/);
  expect(await value(caught("tools.alpha.ehco({})"))).toMatch(/^tool_not_found: .*Nearest: echo/);
  expect(await value(caught("tools.alpha.echo({ message: 5 })"))).toMatch(/^validation_input: /);
  expect(await value("(await search('echo a message'))[0].tool")).toBe("echo");
  expect(await value("await describe('alpha:echo')")).toContain("function echo(args: {");
  expect(await value("await describe('metamcp:read')")).toContain("function read(args: {");
  expect(await value(caught("describe('metamcp:raed')"))).toMatch(/^tool_not_found: .*It has read, /);
  expect(await value(caught("describe('echo')"))).toMatch(/^validation_input: .*"server:tool".*search/);
  expect(await value(caught("describe('alpha:ehco')"))).toMatch(/^tool_not_found: .*search\(…\) shows/);
  expect(textOf(await execute(client, "await tools.echo({})"))).toContain("await tools.server.tool(args)");
  const failed = await execute(client, "const x = 1\nawait tools.alpha.echo({ message: 'hi' })\nx.y.z");
  expect(failureOf(failed)).toMatchObject({
    code: "execution_failed",
    details: { line: 3 },
    retryable: false,
  });
  expect(answerOf(failed).calls).toMatchObject([{ server: "alpha", tool: "echo" }]);
  expect(textOf(failed)).toContain("x.y.z");
  const noText = await client.tool("mcp_execute", { code: 1 });
  expect(failureOf(noText)).toMatchObject({ code: "validation_input", op: "mcp_execute" });
  await client.close();
});

test("a large value is subject to the result budget", async () => {
  const { client } = await start({});
  const result = await execute(client, "Array.from({ length: 20000 }, (_, n) => ({ n, text: 'row ' + n }))");
  expect(JSON.stringify(result).length).toBeLessThan(4_200);
  expect(JSON.stringify(result["content"])).toContain("resource_link");
  await client.close();
});

test("--no-code removes mcp_execute", async () => {
  const { client } = await start({}, { flags: ["--no-code"] });
  const { result } = await client.request("tools/list");
  expect(JSON.stringify(result)).not.toContain("mcp_execute");
  const { error } = await client.request("tools/call", { name: "mcp_execute", arguments: { code: "1" } });
  expect(error).toMatchObject({ code: -32602 });
  await client.close();
});

test("calls from code ask the person and report progress like direct calls", async () => {
  const { client } = await start(
    { a: fixture(), careful: { ...fixture(), tools: { ask: ["echo"] } } },
    {},
    { elicitation: {} },
  );
  const answers = ["accept", "decline"];
  client.reply = ({ method }) =>
    method === "elicitation/create"
      ? { result: { action: answers.shift(), content: { name: "x" } } }
      : undefined;
  const code =
    "const r = []; for (const n of [1, 2]) r.push(await tools.careful.echo({ message: 'm' + n }).catch((e) => e.code)); r";
  expect(answerOf(await execute(client, code)).value).toEqual(["m1", "forbidden"]);
  expect(client.requests).toHaveLength(2);

  answers.push("accept");
  const asked = await execute(client, "await tools.a.ask({ message: 'who?' })");
  expect(answerOf(asked).value).toMatchObject({ answer: { action: "accept", content: { name: "x" } } });

  const token = { progressToken: "t" };
  await execute(
    client,
    "progress(1, 2, 'half'); await tools.a.progress({ n: 3 }); progress(2, 2)",
    {},
    token,
  );
  await execute(client, "await tools.a.progress({ n: 2 })", {}, token);
  const seen = client.notifications.filter(({ method }) => method === "notifications/progress");
  expect(seen.map(({ params }) => params?.["progressToken"])).toEqual(seen.map(() => "t"));
  const shown = seen.map(({ params }) => `${params?.["progress"]} ${params?.["message"] ?? ""}`);
  expect(shown).toEqual([
    "1 half",
    "2 ",
    "1 a progress: 1 of 2",
    "2 a progress: 2 of 2",
    "3 a progress answered",
  ]);
  await client.close();
});

test("cancelling reaches the calls that the code is waiting for", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const client = gateway(folder);
  await client.initialize();
  await execute(client, "await tools.a.echo({ message: 'warm' })");
  const running = execute(
    client,
    "await Promise.all([tools.a.sleep({ ms: 60000 }), tools.a.sleep({ ms: 60000 })])",
  );
  running.catch(() => {});
  const methods = () => journal.events("message").map(({ method }) => String(method));
  await until(() => methods().filter((method) => method === "tools/call").length === 3);
  client.notify("notifications/cancelled", { requestId: client.lastId });
  await until(() => methods().filter((method) => method === "notifications/cancelled").length === 2);
  expect(answerOf(await execute(client, "6 * 7")).value).toBe(42);
  expect(await client.close()).toMatchObject({ code: 0 });
});

test("sandbox processes end with the gateway, also when it is killed", async () => {
  for (const end of ["close", "kill"] as const) {
    const { client } = await start({});
    expect(childrenOf(client.pid)).toEqual([]);
    expect(answerOf(await execute(client, "1")).value).toBe(1);
    const hosts = childrenOf(client.pid);
    expect(hosts.length).toBeGreaterThan(0);
    if (end === "close") await client.close();
    else client.kill("SIGKILL");
    await gone(hosts);
  }
});
