/** MetaMCP as a library, from the built package, as another project would use it. */

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type {
  Connector,
  Executor,
  Host,
  Message,
  MetaMcp,
  MetaMcpOptions,
  Middleware,
  Principal,
  Transport,
} from "../../src/index.ts";
import { gone } from "../support/processes.ts";
import { fixture, ROOT, temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const read = (name: string): string => readFileSync(join(ROOT, name), "utf8");
const built = join(ROOT, "dist/index.mjs");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const { createMetaMcp, MetaMcpError, toRaw, writeMessage } = (await import(
  built
)) as typeof import("../../src/index.ts");

async function open(options: MetaMcpOptions): Promise<MetaMcp> {
  const metamcp = await createMetaMcp(options);
  onTestFinished(() => metamcp.close());
  return metamcp;
}

test("examples/library.mjs prints the documented output", async () => {
  const folder = temp();
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "examples/library.mjs")], {
    cwd: folder.path("."),
    env: folder.env,
  });
  expect(stdout.split("\n")).toEqual([
    "everything get-sum(a: number, b: number)",
    expect.stringContaining("42"),
    "validation_input, retryable: false",
    "",
  ]);
});

test("examples/extending.mjs prints the documented output", async () => {
  const folder = temp();
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "examples/extending.mjs")], {
    cwd: folder.path("."),
    env: folder.env,
  });
  expect(stdout.split("\n")).toEqual(["numbers tools/call: 41 bytes", "42", "numbers:double", "metamcp", ""]);
});

test("resources, prompts and code work as for clients", async () => {
  const folder = temp();
  const everything = join(ROOT, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const config = { mcpServers: { e: { command: process.execPath, args: [everything] } } };
  const metamcp = await open({ config, home: folder.path("home") });
  const { resources, templates } = await metamcp.listResources("e");
  expect(templates[0]?.uriTemplate).toContain("{");
  const uri = resources[0]?.uri ?? "";
  const { contents } = await metamcp.readResource("e", uri);
  expect(contents[0]).toMatchObject({ uri, text: expect.any(String) });
  expect((await metamcp.listPrompts("e")).map(({ name }) => name)).toContain("args-prompt");
  const { messages } = await metamcp.getPrompt("e", "args-prompt", { city: "Bern" });
  expect(JSON.stringify(messages)).toContain("Bern");
  const code = "console.log('hi'); return (await tools.e['get-sum']({ a: 1, b: 2 }))";
  const ran = await metamcp.execute(code);
  expect(JSON.stringify(ran.value)).toContain("3");
  expect(ran).toMatchObject({ logs: [{ text: "hi" }], calls: [{ server: "e", tool: "get-sum" }] });
  expect(await metamcp.execute("throw new Error('no')")).toMatchObject({
    error: { message: expect.stringContaining("no") },
  });
  for (const wrong of [
    () => metamcp.readResource("none", "x:1"),
    () => metamcp.readResource("e", "x:none"),
    () => metamcp.getPrompt("e", "none"),
    () => metamcp.listPrompts("none"),
    () => metamcp.execute("1", { timeoutMs: 0 }),
    () => metamcp.execute("await new Promise(() => {})", { signal: AbortSignal.timeout(1) }),
  ])
    await expect(wrong).rejects.toBeInstanceOf(MetaMcpError);
});

const PRINCIPAL: Principal = { id: "me", kind: "local", roles: [], groups: [] };

/** A client inside the process. `ask` sends a request and returns the answer. */
class InProcessClient implements Transport {
  readonly name = "one client";
  readonly info = "in process";
  readonly #received: Message[] = [];
  #session: ReturnType<Host["open"]> | undefined;
  #finish: () => void = () => {};
  readonly ended: string[] = [];

  serve(host: Host): Promise<void> {
    this.#session = host.open((message) => void this.#received.push(message), PRINCIPAL);
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  async ask(id: number, method: string, params: object): Promise<unknown> {
    this.#session?.receive({ kind: "request", id: toRaw(id), method, params: toRaw(params) });
    await until(() => this.#received.length >= id);
    return JSON.parse(writeMessage(this.#received[id - 1] as Message).toString());
  }

  async stop(): Promise<void> {
    this.ended.push("stop");
  }

  async close(): Promise<void> {
    this.ended.push("close");
    this.#finish();
  }
}

test("a custom connector, custom layers, a custom code engine and a custom transport replace the built-in ones", async () => {
  const folder = temp();
  const journal = folder.journal();
  const seen: string[] = [];
  const layer =
    (name: string): Middleware =>
    (next) =>
    async (call) => {
      seen.push(`${name} in`);
      const result = await next(call);
      seen.push(`${name} out`);
      return result;
    };
  const inputSchema = { type: "object" };
  const answers: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "parrot", version: "1" },
    },
    "tools/list": { tools: [{ name: "any", inputSchema }] },
  };
  const parrot: Connector = {
    open: async (_spec, events) => ({
      peer: "in process",
      send(message) {
        if (message.kind !== "request") return;
        const { id, method, params } = message;
        const result = method === "tools/call" && params ? params : toRaw(answers[method] ?? {});
        queueMicrotask(() => events.onMessage({ kind: "result", id, result }, undefined));
      },
      agreed: () => {},
      lastWords: () => undefined,
      close: async () => {},
    }),
  };
  const ran: string[] = [];
  const executor: Executor = {
    async run({ code }) {
      ran.push(code);
      const rest = { logs: [], calls: [], durationMs: 1, enforced: [], unsafe: false, backend: "mine" };
      return { value: "7", error: undefined, ...rest };
    },
    close: async () => void ran.push("closed"),
    killNow: () => {},
  };
  const metamcp = await createMetaMcp({
    config: { mcpServers: { a: fixture("--journal", journal.file) } },
    home: folder.home,
    connectors: { a: parrot, b: parrot },
    middleware: [layer("first"), layer("second")],
    executor,
  });
  expect(await metamcp.call("a", "any", { x: 1 })).toEqual({ name: "any", arguments: { x: 1 } });
  expect(await metamcp.call("b", "any")).toMatchObject({ name: "any" });
  expect(seen.slice(0, 4)).toEqual(["first in", "second in", "second out", "first out"]);

  const client = new InProcessClient();
  const served = metamcp.serve(client);
  await client.ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
  const run = await client.ask(2, "tools/call", { name: "mcp_execute", arguments: { code: "3 + 4" } });
  expect(run).toMatchObject({ result: { structuredContent: { value: 7 } } });

  await metamcp.close();
  await served;
  expect(client.ended).toEqual(["stop", "close"]);
  expect(ran).toEqual(["3 + 4", "closed"]);
  expect(journal.pids()).toEqual([]);
  await expect(metamcp.serve(client)).rejects.toThrow("MetaMCP is closed.");
});

test("the published contracts pass correct custom parts and fail a wrong one", {
  timeout: 120_000,
}, async () => {
  const folder = temp();
  mkdirSync(folder.path("node_modules"));
  symlinkSync(ROOT, folder.path("node_modules/metamcp"));
  symlinkSync(join(ROOT, "node_modules/vitest"), folder.path("node_modules/vitest"));
  const layer = {
    right: "(next) => (call) => next(call)",
    wrong: "(next) => async (call) => (await next(call), next(call))",
  };
  for (const [name, code] of Object.entries(layer)) {
    writeFileSync(
      folder.path(`${name}.test.mjs`),
      `import { middlewareContract } from "metamcp/contract";\nmiddlewareContract("mine", () => ${code});`,
    );
  }
  const example = join(ROOT, "examples/middleware/change-ticket.mjs");
  folder.write(
    "layer.test.mjs",
    `import { layerContract } from "metamcp/contract";
import kind from ${JSON.stringify(example)};
layerContract("the example", { kind, options: { prefix: "OPS-" }, refuses: { tool: "two:delete" } });`,
  );
  folder.write(
    "connector.test.mjs",
    `import { ChildFailure, fromRaw, toRaw } from "metamcp";
import { connectorContract } from "metamcp/contract";
const connector = {
  async open(_spec, events, signal) {
    if (signal.aborted) throw new ChildFailure("other", "aborted", { unsent: true });
    let open = true;
    return {
      peer: "in process",
      send({ kind, id, params }) {
        const { name, arguments: args } = params ? fromRaw(params) : {};
        if (!open || kind !== "request" || name === "hang") return;
        const result = toRaw({ content: [{ type: "text", text: args?.message ?? "" }] });
        queueMicrotask(() => open && events.onMessage({ kind: "result", id, result }));
      },
      agreed() {},
      lastWords: () => undefined,
      close: async () => void (open = false),
    };
  },
};
connectorContract("mine", async () => ({ connector, spec: { name: "mine" }, gone: async () => {} }));`,
  );
  const all = ["right", "layer", "connector", "wrong"];
  const vitest = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--no-isolate", "--maxWorkers=1"];
  const run = promisify(execFile)(process.execPath, [...vitest, "--root", folder.path("."), ...all], {
    cwd: folder.path("."),
    env: { ...folder.env, NO_COLOR: "1" },
  });
  const { stdout, stderr } = await run.catch((failed: Awaited<typeof run>) => failed);
  expect(stdout).toContain("Test Files  1 failed | 3 passed (4)");
  const failed = [...stderr.matchAll(/^ FAIL {2}(\S+)/gm)].map(([, file]) => file);
  expect(new Set(failed)).toEqual(new Set(["wrong.test.mjs"]));
});

test("the types of the package and the example in the README compile in a strict project", {
  timeout: 120_000,
}, async () => {
  const folder = temp();
  mkdirSync(folder.path("node_modules"));
  symlinkSync(ROOT, folder.path("node_modules/metamcp"));
  folder.write("package.json", '{ "type": "module" }');
  const file = folder.write(
    "use.ts",
    `import { createMetaMcp } from "metamcp";
export const close = async () => await (await createMetaMcp({})).close();
export const wrong: string = await createMetaMcp({});`,
  );
  const [, example = ""] = /## As a library\n+```ts\n([\s\S]*?)```/.exec(read("README.md")) ?? [];
  expect(example).toContain("createMetaMcp");
  const readme = folder.write("readme.ts", example);
  const flags = ["--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2023"];
  // Not the types of browsers, which take longer to check than ours.
  flags.push("--lib", "es2023");
  const tsc = promisify(execFile)(process.execPath, [TSC, "--noEmit", ...flags, file, readme], {
    cwd: folder.path("."),
  });
  // Line 3 has the only type error.
  await expect(tsc).rejects.toMatchObject({
    stdout: expect.stringMatching(/^[^\n]*use\.ts\(3,14\): error TS2322: Type 'MetaMcp'[^\n]*\n$/),
  });
});

test("the library lists, searches and calls servers, and ends them when it closes", async () => {
  const folder = temp();
  const journal = folder.journal();
  const config = { mcpServers: { a: fixture("--journal", journal.file), broken: 5 } };
  const metamcp = await open({ config, home: folder.home });
  expect(journal.pids()).toEqual([]);
  const { servers } = await metamcp.discover();
  expect(servers).toMatchObject([
    { name: "a", toolCount: 23 },
    { name: "broken", state: "failed" },
  ]);
  const { tools = [], nextCursor = "" } = await metamcp.discover({ server: "a", limit: 2, detail: "types" });
  expect(tools[1]).toMatchObject({ tool: "add", types: expect.stringContaining("a: number") });
  expect((await metamcp.discover({ server: "a", limit: 2, cursor: nextCursor })).tools).toHaveLength(2);
  expect((await metamcp.discover("add two numbers")).tools?.[0]).toMatchObject({ server: "a", tool: "add" });

  expect(await metamcp.call("a", "add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
  expect(await metamcp.call("a", "is_error", { message: "no" })).toMatchObject({ isError: true });
  await metamcp.close();
  await gone(journal.pids());
  await expect(metamcp.call("a", "echo")).rejects.toThrow("MetaMCP is closed.");
});

test("a program that exits while MetaMCP is closing leaves no server behind", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file, "--ignore-eof", "--ignore-sigterm") });
  const options = JSON.stringify({ config: folder.config, home: folder.home });
  const code = `
    const { createMetaMcp } = await import(${JSON.stringify(built)});
    const all = await Promise.all(Array.from({ length: 12 }, () => createMetaMcp(${options})));
    await Promise.all(all.slice(0, 3).map((metamcp) => metamcp.call("a", "pid")));
    void all[0].close();
    await all[11].close();
    process.exit();`;
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  expect(stderr).toBe("");
  expect(journal.pids()).toHaveLength(3);
  await gone(journal.pids());
});

test("every failure is a MetaMcpError with a code", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--journal", folder.journal().file) });
  const metamcp = await open({ config: folder.config, home: folder.home });
  const abort = new AbortController();
  const cancelled = metamcp.call("a", "sleep", { ms: 60_000 }, { signal: abort.signal });
  void folder
    .journal()
    .until((journal) => journal.methods().includes("tools/call"))
    .then(() => abort.abort());
  const failure = (failing: Promise<unknown>): Promise<unknown> =>
    failing.then(
      () => "none",
      (reason: unknown) => reason,
    );
  const failures: [Promise<unknown>, object][] = [
    [failure(metamcp.call("b", "echo")), { code: "server_not_found", retryable: false }],
    [failure(metamcp.call("a", "ecko")), { code: "tool_not_found" }],
    [failure(metamcp.call("a", "echo", {})), { code: "validation_input" }],
    [
      failure(metamcp.call("a", "fail", { message: "odd" })),
      { code: "execution_failed", context: { details: { message: "odd" } } },
    ],
    [failure(metamcp.discover({ server: "b" })), { code: "server_not_found" }],
    [failure(metamcp.discover({ server: "a", cursor: "x" })), { code: "validation_input" }],
    [failure(metamcp.discover({ limit: 0 })), { code: "validation_input" }],
    [failure(cancelled), { code: "cancelled" }],
    // Abort reasons other than the default.
    [
      failure(metamcp.call("a", "sleep", { ms: 60_000 }, { signal: AbortSignal.timeout(1) })),
      { code: "cancelled" },
    ],
    [
      failure(metamcp.call("a", "echo", { message: "x" }, { signal: AbortSignal.abort("changed my mind") })),
      { code: "cancelled" },
    ],
    [failure(metamcp.call("a", "echo", { message: 1n })), { code: "validation_input" }],
  ];
  for (const [failed, expected] of failures) {
    const error = await failed;
    expect(error).toBeInstanceOf(MetaMcpError);
    expect(error).toMatchObject(expected);
  }
  folder.write("bad.json", "{");
  await expect(createMetaMcp({ config: folder.path("bad.json"), home: folder.home })).rejects.toThrow(
    /bad\.json:1:2/,
  );
});
