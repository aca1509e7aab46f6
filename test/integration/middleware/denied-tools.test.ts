/**
 * A tool that a layer denies appears nowhere: in no list, search, description, hint, example, error or API
 * description.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import { HEADERS } from "../../support/http-gateway.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { apiClient } from "../../support/people.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

/** The tool's own name, its name in the namespace, and its description. */
const TRACE = /weird|uncanny|hardly anyone/i;

const DENIED = {
  filter: [{ use: "filter", deny: ["fix:weird"] }],
  policy: [{ use: "policy", default: "allow", rules: [{ effect: "deny", tools: ["fix:weird"] }] }],
  "policy with an allow list": [{ use: "policy", rules: [{ effect: "allow", tools: ["fix:e*", "fix:c*"] }] }],
};

const CHAIN = [{ tool_id: "fix:echo", args: { message: "{{ steps.0.weir }}" } }];

test.each(Object.entries(DENIED))(
  "a tool denied by a %s layer appears in no answer and cannot be called",
  async (_name, middleware) => {
    const { gateway, key, reached } = await layeredTeam({
      server: { examples: { weird: [{}], echo: [{ message: "hello" }] } },
      namespace: { tools: [{ server: "fix", tool: "weird", name: "uncanny" }] },
      endpoint: { openapi: true, middleware },
    });
    const answers = new Map<string, string>();
    const note = async (what: string, work: Promise<unknown>) => {
      const value = await work.catch((error: unknown) => String(error));
      answers.set(what, typeof value === "string" ? value : JSON.stringify(value));
    };
    const [meta, metatools, aggregate] = await Promise.all(
      ["meta", "metatools", "aggregate"].map((name) => teamClient(gateway, name, { key })),
    );
    if (!meta || !metatools || !aggregate) throw new Error("three clients");

    for (const client of [meta, metatools, aggregate])
      await note("instructions", Promise.resolve(client.instructions ?? ""));
    for (const client of [meta, metatools, aggregate]) await note("lists", client.tools());

    await note("discover", meta.call("mcp_discover"));
    await note("discover a server", meta.call("mcp_discover", { server: "fix", limit: 100 }));
    await note(
      "discover as types",
      meta.call("mcp_discover", { server: "fix", limit: 100, detail: "types" }),
    );
    await note("discover by words", meta.call("mcp_discover", { query: "a result that no person can read" }));
    await note("nearly its name", meta.call("mcp_call", { server: "fix", tool: "weir", args: {} }));
    await note("nearly its other name", meta.call("mcp_call", { server: "fix", tool: "uncany", args: {} }));
    for (const code of [
      "return Object.keys(tools.fix)",
      "return await search('a result that no person can read')",
      "return await describe('fix', 'weir').catch((error) => error.message)",
      "return await tools.fix.weir({}).catch((error) => error.message)",
      "return await tools.fix.uncann({}).catch((error) => error.message)",
    ])
      await note(code, meta.call("mcp_execute", { code }));

    await note("list_tools", metatools.call("list_tools", { limit: 100 }));
    await note("list_namespaces", metatools.call("list_namespaces", {}));
    await note("search_tools", metatools.call("search_tools", { query: "a result that no person can read" }));
    await note("describe_tool", metatools.call("describe_tool", { tool_id: "fix:weir" }));
    await note("list_tool_examples", metatools.call("list_tool_examples", { tool_id: "fix:weir" }));
    await note("examples of others", metatools.call("list_tool_examples", { tool_id: "fix:echo" }));
    await note("run_tool", metatools.call("run_tool", { tool_id: "fix:uncann", args: {} }));
    await note("run_chain", metatools.call("run_chain", { steps: [{ tool_id: "fix:weir", args: {} }] }));

    const eras = await Promise.all(
      (["sse", "2026-07-28"] as const).map((way) => teamClient(gateway, "aggregate", { key, way })),
    );
    for (const client of eras) {
      await note("lists of others", client.tools());
      await note("nearly its name, of others", client.call("fix__uncann", {}));
    }
    await note(
      "a wrong argument",
      metatools.call("run_tool", { tool_id: "fix:echo", args: { messag: "x" } }),
    );
    await note("a dry run", metatools.call("run_chain", { steps: CHAIN, dry_run: true }));
    await note("by its meaning", metatools.call("search_tools", { query: "weird uncanny" }));
    await note("by its name", meta.call("mcp_discover", { query: "uncanny" }));

    await note("aggregate", aggregate.call("fix__uncann", {}));
    const http = async (path: string, body?: string) => {
      const answer = await fetch(`${gateway.url}/metamcp/aggregate/api/${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
      });
      return `${answer.status} ${await answer.text()}`;
    };
    await note("openapi.json", http("openapi.json"));
    await note("nearly its path", http("fix__uncann", "{}"));

    for (const [what, text] of answers) expect([what, TRACE.exec(text)?.[0]]).toEqual([what, undefined]);
    expect(answers.get("lists"), "others are there").toContain("echo");
    expect(answers.get("openapi.json")).toContain("fix__echo");
    expect(answers.get("examples of others")).toContain("hello");

    // Called by its exact name it does not exist, on every surface.
    const args = {};
    const named: readonly [string, Promise<string>][] = [
      ["mcp_call", meta.call("mcp_call", { server: "fix", tool: "uncanny", args })],
      ["own name", meta.call("mcp_call", { server: "fix", tool: "weird", args })],
      [
        "code",
        meta.call("mcp_execute", { code: "return await tools.fix.uncanny({}).catch((error) => error.code)" }),
      ],
      ["run_tool", metatools.call("run_tool", { tool_id: "fix:uncanny", args })],
      ["chain", metatools.call("run_chain", { steps: [{ tool_id: "fix:uncanny", args }] })],
      ["aggregate", aggregate.call("fix__uncanny", args).catch(String)],
      ["rest", http("fix__uncanny", "{}")],
    ];
    for (const [way, answer] of named) {
      const text = await answer;
      expect([way, text]).toEqual([way, expect.stringMatching(/tool_not_found|Unknown tool|^404/)]);
      expect([way, /forbidden|denied|policy|filter|rule/i.exec(text)?.[0]]).toEqual([way, undefined]);
    }
    expect(reached("weird")).toBe(0);
  },
);

test("a denied tool does not appear in the admin API for people who may not read the rules", async () => {
  const middleware = [{ use: "filter", deny: ["fix:weird"] }];
  const { gateway, api, key } = await layeredTeam({ endpoint: { middleware } });
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("fix__echo", { message: "x" });
  await client.call("fix__weird", {}).catch(() => {});
  const { items } = (await api("GET", "/endpoints")).body;
  const { uuid: owner } = (await api("POST", "/users", { email: "ada@example.org", role: "member" })).body;
  const { key: text } = (await api("POST", "/api-keys", { name: "m", role: "member", owner })).body;
  const member = apiClient(gateway.url, { authorization: `Bearer ${text}` });
  const paths = [
    "/calls",
    "/audit",
    "/sessions",
    "/stats",
    "/config",
    "/mcp-servers",
    "/approvals",
    "/settings",
  ];
  for (const { uuid } of items) paths.push(`/endpoints/${uuid}/tools`, `/endpoints/${uuid}/preview`);
  for (const path of paths) {
    const { status, body } = await member("GET", path);
    if (path.endsWith("/tools"))
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining("echo")]);
    expect([path, TRACE.exec(JSON.stringify(body))?.[0]]).toEqual([path, undefined]);
  }
});

test("prompts, resources and instructions of a server are hidden if all its tools are denied", async () => {
  const journal = temp().journal();
  const items = fixture(
    "--journal",
    journal.file,
    "--prompts",
    "2",
    "--resources",
    "2",
    "--templates",
    "1",
    "--instructions",
    "uncanny",
  );
  const { gateway, key } = await layeredTeam({
    server: items,
    endpoint: {
      openapi: true,
      middleware: [{ use: "policy", rules: [{ effect: "allow", tools: ["other:*"] }] }],
    },
  });
  const answers = new Map<string, string>();
  const client = new Client({ name: "t", version: "1" });
  const url = new URL(`${gateway.url}/metamcp/aggregate/mcp`);
  const requestInit = { headers: { "x-api-key": key } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  const note = async (what: string, work: Promise<unknown>) =>
    void answers.set(what, JSON.stringify(await work.catch((error: Error) => error.message)));
  await note("instructions", Promise.resolve(client.getInstructions() ?? ""));
  await note("prompts", client.listPrompts());
  await note("resources", client.listResources());
  await note("templates", client.listResourceTemplates());
  await note("read", client.readResource({ uri: "fixture://item/0" }));
  const argument = { name: "id", value: "" };
  const template = { type: "ref/resource", uri: "fixture://by-id/0/{id}" } as const;
  await note("complete", client.complete({ ref: template, argument }));
  await note(
    "complete a prompt",
    client.complete({ ref: { type: "ref/prompt", name: "fix__prompt_0" }, argument }),
  );
  await note("prompt", client.getPrompt({ name: "fix__prompt_0" }));
  await client.close();
  for (const endpoint of ["meta", "metatools"]) {
    const other = await teamClient(gateway, endpoint, { key });
    await note(`${endpoint} instructions`, Promise.resolve(other.instructions ?? ""));
    await note(`${endpoint} list`, other.call(endpoint === "meta" ? "mcp_discover" : "list_namespaces", {}));
  }
  for (const [what, text] of answers)
    expect([what, /prompt_1|item\/1|by-id\/1|uncanny|"fix"/.exec(text)?.[0]]).toEqual([what, undefined]);
  const made = journal.events("message").map(({ method }) => method);
  for (const method of ["resources/read", "prompts/get", "completion/complete"])
    expect(made).not.toContain(method);
});

test("a denied tool of our own appears nowhere either, and code cannot read resources in its place", async () => {
  const { gateway, key } = await layeredTeam({
    server: fixture("--resources", "2", "--prompts", "1"),
    endpoint: {
      middleware: [
        {
          use: "filter",
          deny: ["metamcp:read", "metamcp:resources", "metamcp:mcp_provision", "metamcp:run_chain"],
        },
      ],
    },
  });
  const meta = await teamClient(gateway, "meta", { key });
  const metatools = await teamClient(gateway, "metatools", { key });
  const read = { uri: "fixture://item/0", server: "fix" };
  const code = "return await read('fixture://item/0').catch((error) => error.code)";
  const stored = "return await read('metamcp://result/none').catch((error) => error.code)";
  const answers = {
    instructions: meta.instructions,
    "instructions of metatools": metatools.instructions,
    discover: await meta.call("mcp_discover", { server: "metamcp" }),
    "discover a server": await meta.call("mcp_discover", { server: "fix", limit: 1 }),
    "nearly its name": await meta.call("mcp_call", { server: "metamcp", tool: "rea", args: {} }),
    "nearly another": await meta.call("mcp_provison", {}).catch(String),
    "a large result": await meta.call("mcp_call", { server: "fix", tool: "big", args: { bytes: 200_000 } }),
    list_tools: await metatools.call("list_tools", { namespace: "metamcp" }),
    "nearly a metatool": await metatools.call("run_chian", {}).catch(String),
    "describe_tool, nearly": await metatools.call("describe_tool", {
      tool_id: "metamcp:prompt_",
      detail_level: "summary",
    }),
  };
  for (const [what, text = ""] of Object.entries(answers))
    expect([what, /\bread\b(?!-only)|provision\b|run_chain\b/.exec(text)?.[0]]).toEqual([what, undefined]);
  expect(answers.discover).toContain("prompts");
  const named = [
    await meta.call("mcp_call", { server: "metamcp", tool: "read", args: read }),
    await meta.call("mcp_execute", { code }),
    await meta.call("mcp_execute", { code: stored }),
    await metatools.call("describe_tool", { tool_id: "metamcp:read", detail_level: "summary" }),
    await metatools.call("run_tool", { tool_id: "metamcp:read", args: read }),
  ];
  for (const text of named) expect(text).toMatch(/tool_not_found/);
});

const items = (journal: string, ...more: readonly string[]) =>
  fixture("--journal", journal, "--prompts", "1", "--resources", "1", ...more);
const only = (place: string) => [{ use: "policy", rules: [{ effect: "allow", tools: [place] }] }];

test.each([
  ["whose tools are denied, before it was first listed", [], only("other:*"), 0],
  ["without tools, which no rule allows", ["--bare"], only("other:*"), 0],
  ["without tools, which a filter denies", ["--bare"], [{ use: "filter", deny: ["fix:*"] }], 0],
  ["without tools, which a rule allows", ["--bare"], only("fix:*"), 3],
])(
  "prompts and resources of a server %s, are hidden unless it is allowed",
  async (_what, more, middleware, read) => {
    const journal = temp().journal();
    const { gateway, key } = await layeredTeam({
      server: items(journal.file, ...more),
      endpoint: { middleware },
    });
    const meta = await teamClient(gateway, "meta", { key });
    const resource = { uri: "fixture://item/0", server: "fix" };
    const prompt = { name: "prompt_0", server: "fix" };
    const own = (tool: string, args: object) => meta.call("mcp_call", { server: "metamcp", tool, args });
    const answers = [
      await own("read", resource),
      await own("prompt", prompt),
      await own("resources", { server: "fix" }),
    ];
    const client = new Client({ name: "t", version: "1" });
    const url = new URL(`${gateway.url}/metamcp/aggregate/mcp`);
    const requestInit = { headers: { "x-api-key": key } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
    answers.push(JSON.stringify(await client.readResource({ uri: resource.uri }).catch(String)));
    answers.push(JSON.stringify([await client.listPrompts(), await client.listResources()]));
    await client.close();
    const used = journal.events("message").filter(({ method }) => /read$|get$/.test(String(method)));
    expect(used).toHaveLength(read);
    const shown = answers.filter((text) => /Prompt prompt_0|fixture fixture:|"mimeType"/.test(text));
    expect(shown).toHaveLength(read === 0 ? 0 : 4);
  },
);

test("a subscription to a resource is silent while its server is denied, and can be ended then", async () => {
  const { gateway, key, api } = await layeredTeam({ server: fixture("--resources", "1") });
  const updates: string[] = [];
  const client = new Client({ name: "t", version: "1" });
  client.fallbackNotificationHandler = async ({ params = {} }) => void updates.push(JSON.stringify(params));
  const url = new URL(`${gateway.url}/metamcp/aggregate/mcp`);
  const requestInit = { headers: { "x-api-key": key } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  const uri = "fixture://item/0";
  await client.subscribeResource({ uri });
  const other = await teamClient(gateway, "meta", { key });
  const update = (mark: string) => {
    const args = { method: "notifications/resources/updated", params: { uri, mark } };
    return other.call("mcp_call", { server: "fix", tool: "notify", args });
  };
  await update("first");
  await until(() => updates.some((text) => text.includes("first")));
  const { items } = (await api("GET", "/endpoints")).body;
  const { uuid } = items.find(({ name }: { name: string }) => name === "aggregate");
  const set = (middleware: readonly object[]) => api("PATCH", `/endpoints/${uuid}`, { middleware });
  await set([{ use: "filter", deny: ["fix:*"] }]);
  await update("hidden");
  // After the server is allowed again, the next update shows that no earlier one is still on its way.
  await set([]);
  await update("last");
  await until(() => updates.some((text) => text.includes("last")));
  expect(updates.join()).not.toContain("hidden");
  await set([{ use: "filter", deny: ["fix:*"] }]);
  await client.unsubscribeResource({ uri });
  await client.close();
});

test("what a failing server printed is in no text for clients and viewers, and administrators see it", async () => {
  const print = "console.error('fatal: ' + ['uncanny', 'output'].join('-')); process.exit(3)";
  const { gateway, api, key } = await layeredTeam({
    server: { command: process.execPath, args: ["-e", print] },
    endpoint: { openapi: true },
  });
  const [meta, metatools, aggregate, stateless] = await Promise.all([
    teamClient(gateway, "meta", { key }),
    teamClient(gateway, "metatools", { key }),
    teamClient(gateway, "aggregate", { key }),
    teamClient(gateway, "meta", { key, way: "2026-07-28" }),
  ]);
  const args = {};
  const texts: Record<string, unknown> = {
    lists: await aggregate.tools(),
    call: await meta.call("mcp_call", { server: "fix", tool: "echo", args }),
    "call, stateless": await stateless.call("mcp_call", { server: "fix", tool: "echo", args }),
    discover: await meta.call("mcp_discover"),
    "discover the server": await meta.call("mcp_discover", { server: "fix" }),
    code: await meta.call("mcp_execute", { code: "return await tools.fix.echo({}).catch((e) => e.message)" }),
    "own tool": await meta.call("mcp_call", {
      server: "metamcp",
      tool: "resources",
      args: { server: "fix" },
    }),
    run: await metatools.call("run_tool", { tool_id: "fix:echo", args }),
    chain: await metatools.call("run_chain", { steps: [{ tool_id: "fix:echo", args }] }),
    list_namespaces: await metatools.call("list_namespaces", {}),
    search: await metatools.call("search_tools", { query: "echo" }),
    aggregate: await aggregate.call("fix__echo", args).catch(String),
  };
  expect(texts["call"]).toContain("exited with code 3");
  const { uuid: owner } = (await api("POST", "/users", { email: "vic@example.org", role: "viewer" })).body;
  const { key: text } = (await api("POST", "/api-keys", { name: "v", role: "viewer", owner })).body;
  const viewer = apiClient(gateway.url, { authorization: `Bearer ${text}` });
  const { items } = (await api("GET", "/mcp-servers")).body;
  const paths = ["/mcp-servers", `/mcp-servers/${items[0].uuid}`, `/mcp-servers/${items[0].uuid}/history`];
  for (const path of [...paths, "/attention", "/calls", "/audit"])
    texts[path] = (await viewer("GET", path)).body;
  for (const [what, said] of Object.entries(texts))
    expect([what, /uncanny-output/.exec(JSON.stringify(said))?.[0]]).toEqual([what, undefined]);
  for (const path of [...paths, "/attention"])
    expect(JSON.stringify((await api("GET", path)).body)).toContain(". Its output: fatal: uncanny-output");
});

test("a server without anything for the caller does not exist: no name, state or reason, and the errors of an unknown one", async () => {
  const print = "console.error('no start'); process.exit(3)";
  const { gateway, api, key } = await layeredTeam();
  const broken = { name: "uncanny", command: process.execPath, args: ["-e", print] };
  await api("POST", "/mcp-servers", broken);
  await api("POST", "/mcp-servers", { name: "weirdly", ...fixture() });
  await api("POST", "/mcp-servers", { name: "offline", url: "http://127.0.0.1:9/mcp" });
  const servers = ["fix", "uncanny", "weirdly", "offline"].map((server) => ({ server }));
  await api("POST", "/namespaces", { name: "wide", servers });
  const overHttp = async (endpoint: string, tool: string): Promise<string> => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const url = `${gateway.url}/metamcp/${endpoint}/api/${tool}`;
    return await (await fetch(url, { method: "POST", headers, body: '{"message":"x"}' })).text();
  };
  const request = async (endpoint: string, method: string, params: object): Promise<string> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { ...HEADERS, "x-api-key": key };
    const answer = await fetch(`${gateway.url}/metamcp/${endpoint}/mcp`, { method: "POST", headers, body });
    return /"(?:error|result)":.*/.exec(await answer.text())?.[0] ?? "no answer";
  };
  const layers = {
    filter: [{ use: "filter", deny: ["uncanny:*", "weirdly:*", "offline:*"] }],
    policy: [{ use: "policy", rules: [{ effect: "allow", tools: ["fix:*"] }] }],
  };
  for (const [rule, middleware] of Object.entries(layers))
    for (const surface of ["meta", "metatools", "aggregate"])
      await api("POST", "/endpoints", {
        name: `${rule}-${surface}`,
        namespaces: ["wide"],
        surface,
        middleware,
        openapi: true,
      });
  // The lists of one of them are known to the gateway, those of the other never will be.
  await api("POST", "/endpoints", { name: "open", namespaces: ["wide"], surface: "metatools" });
  await (await teamClient(gateway, "open", { key })).call("list_tools", {});
  for (const rule of Object.keys(layers)) {
    const meta = await teamClient(gateway, `${rule}-meta`, { key });
    const metatools = await teamClient(gateway, `${rule}-metatools`, { key });
    const aggregate = await teamClient(gateway, `${rule}-aggregate`, { key });
    const texts: Record<string, string> = {
      instructions: [meta.instructions, metatools.instructions, aggregate.instructions].join(),
      discover: await meta.call("mcp_discover"),
      "by words": await meta.call("mcp_discover", { query: "echo a message" }),
      code: await meta.call("mcp_execute", { code: "return Object.keys(tools)" }),
      "unknown tool": await meta.call("mcp_call", { server: "fix", tool: "ecko", args: {} }),
      "unknown server": await meta.call("mcp_call", { server: "uncann", tool: "echo", args: {} }),
      list_tools: await metatools.call("list_tools", {}),
      list_namespaces: await metatools.call("list_namespaces", {}),
      search_tools: await metatools.call("search_tools", { query: "echo a message" }),
      "unknown id": await metatools.call("run_tool", { tool_id: "weird:echo", args: {} }),
      aggregate: JSON.stringify(await aggregate.tools()),
    };
    for (const [what, text] of Object.entries(texts))
      expect([rule, what, /uncanny|weirdly|offline|code 3/.exec(text)?.[0]]).toEqual([rule, what, undefined]);
    const named = (text: string, server: string) => text.replaceAll(server, "NAME");
    const ways = (server: string) => [
      meta.call("mcp_call", { server, tool: "echo", args: { message: "x" } }),
      meta.call("mcp_discover", { server }),
      meta.call("mcp_call", { server: "metamcp", tool: "resources", args: { server } }),
      meta.call("mcp_execute", {
        code: `return await tools["${server}"].echo({}).catch((e) => e.code + e.message)`,
      }),
      metatools.call("run_tool", { tool_id: `${server}:echo`, args: {} }),
      metatools.call("list_tools", { namespace: server }),
      metatools.call("describe_tool", { tool_id: `${server}:echo` }),
      // The nearest names depend on the name.
      aggregate.call(`${server}__echo`, {}).catch((error) => String(error).replace(/ Nearest.*/, "")),
      overHttp(`${rule}-aggregate`, `${server}__echo`),
      overHttp(`${rule}-meta`, `${server}__echo`),
      ...["aggregate", "meta"].map((surface) =>
        request(`${rule}-${surface}`, "resources/read", {
          uri: `metamcp://server/${server}/fixture://item/0`,
        }),
      ),
    ];
    const unknown = (await Promise.all(ways("q9q9q"))).map((text) => named(text, "q9q9q"));
    for (const server of ["uncanny", "weirdly", "offline"])
      expect((await Promise.all(ways(server))).map((text) => named(text, server))).toEqual(unknown);
  }
});

test("a denied server that is the only one is not named either", async () => {
  const middleware = [{ use: "filter", deny: ["fix:*"] }];
  const { gateway, key } = await layeredTeam({ endpoint: { middleware } });
  const [meta, metatools, aggregate] = await Promise.all(
    ["meta", "metatools", "aggregate"].map((name) => teamClient(gateway, name, { key })),
  );
  const read = { uri: "other://item/0" };
  const texts = [
    await meta?.call("mcp_discover"),
    await meta?.call("mcp_call", { server: "metamcp", tool: "read", args: read }),
    await meta?.call("mcp_execute", { code: "return await read('other://x').catch(String)" }),
    await metatools?.call("run_tool", { tool_id: "metamcp:read", args: read }),
    await aggregate?.call("echo", {}).catch(String),
  ];
  for (const text of texts) expect(text).not.toMatch(/\bfix\b/);
});

test("a server whose tools are all switched off by the namespace does not exist for clients either", async () => {
  const { gateway, api, key } = await layeredTeam();
  const answer = `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const about = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } };
    const result = method === "initialize" ? about : { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  })`;
  await api("POST", "/mcp-servers", { name: "weirdly", command: process.execPath, args: ["-e", answer] });
  const servers = ["fix", "weirdly"].map((server) => ({ server }));
  const tools = [{ server: "weirdly", tool: "echo", disabled: true }];
  await api("POST", "/namespaces", { name: "few", servers, tools });
  await api("POST", "/endpoints", { name: "few", namespaces: ["few"], surface: "metatools" });
  await api("POST", "/endpoints", { name: "few-meta", namespaces: ["few"], surface: "meta" });
  const client = await teamClient(gateway, "few", { key });
  const meta = await teamClient(gateway, "few-meta", { key });
  expect(await client.call("list_tools", {})).toContain("fix");
  const texts = [
    await client.call("list_namespaces", {}),
    await client.call("run_tool", { tool_id: "weird:echo", args: {} }),
    await meta.call("mcp_discover"),
    await meta.call("mcp_execute", { code: "return Object.keys(tools)" }),
  ];
  for (const text of texts) expect(text).not.toContain("weirdly");
  const ways = (server: string) => [
    client.call("run_tool", { tool_id: `${server}:echo`, args: {} }),
    client.call("list_tools", { namespace: server }),
    meta.call("mcp_call", { server, tool: "echo", args: {} }),
    meta.call("mcp_discover", { server }),
  ];
  const unknown = await Promise.all(ways("q9q9q"));
  const switched = await Promise.all(ways("weirdly"));
  expect(switched.map((text) => text.replaceAll("weirdly", "q9q9q"))).toEqual(unknown);
});
