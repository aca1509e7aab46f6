/** A host with the official SDKs that draws apps of servers behind an endpoint with rules, in both eras. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import { APPS, appServer, callsOf, HOST, PAGE, readsOf } from "../support/app-server.ts";
import { auditRecords } from "../support/records.ts";
import { atEnd, shared } from "../support/shared.ts";
import { teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";

const ERAS = { legacy: {}, "2026-07-28": { versionNegotiation: { mode: { pin: "2026-07-28" } } } } as const;
const RULES = [
  { use: "audit" },
  { use: "redact", detect: ["email"], in: ["results"] },
  { use: "filter", deny: ["two:erase"] },
  {
    use: "policy",
    rules: [
      { effect: "deny", tools: ["two:refresh"], args: { message: { glob: "*password*" } } },
      { effect: "allow", tools: ["*"] },
    ],
  },
];

const team = shared(async () => {
  const folder = temp();
  const gateway = await teamGateway(folder);
  const app = { tools: { show: PAGE, refresh: PAGE, erase: PAGE }, forApps: ["refresh", "erase"] };
  const servers = {
    stranger: appServer(folder, "stranger", { tools: {}, lists: [PAGE] }),
    one: appServer(folder, "one", { ...app, tools: { ...app.tools, only_one: PAGE } }),
    two: appServer(folder, "two", app),
  };
  for (const [name, entry] of Object.entries(servers))
    await gateway.api("POST", "/mcp-servers", { name, ...entry });
  const listed = Object.keys(servers).map((server) => ({ server }));
  await gateway.api("POST", "/namespaces", { name: "apps", servers: listed });
  for (const surface of ["aggregate", "meta", "metatools"]) {
    const endpoint = { name: surface, surface, namespaces: ["apps"], middleware: RULES, openapi: true };
    await gateway.api("POST", "/endpoints", { ...endpoint, pinned: ["two:show"] });
  }
  // Extensions of servers are known from their first connection.
  await gateway.api("GET", "/endpoints/aggregate/preview");
  return { folder, gateway, key: await gateway.key() };
});

/** A host: it draws the page that a listed tool names, and passes on what the app calls. */
async function host(endpoint: string, sdk: "SDK 1" | keyof typeof ERAS) {
  const { gateway, key } = team();
  const url = new URL(`${gateway.url}/metamcp/${endpoint}/mcp`);
  const options = { requestInit: { headers: { "x-api-key": key } } };
  const info = { name: "host", version: "1" };
  const client =
    sdk === "SDK 1"
      ? new ClientV1(info, { capabilities: HOST })
      : new Client(info, { capabilities: HOST, ...ERAS[sdk] });
  if (client instanceof Client) await client.connect(new StreamableHTTPClientTransport(url, options));
  // Its own type of a transport does not fit under exactOptionalPropertyTypes.
  else await client.connect(new TransportV1(url, options) as Parameters<typeof client.connect>[0]);
  atEnd(() => client.close());
  const { tools } = await client.listTools();
  return {
    client,
    names: tools.map(({ name }) => name),
    async draw(name: string) {
      const { _meta } = tools.find((tool) => tool.name === name) ?? {};
      const { resourceUri: uri } = _meta?.["ui"] as { resourceUri: string };
      const { contents } = await client.readResource({ uri });
      return (contents[0] as { text: string }).text;
    },
    async called(name: string, args: Record<string, unknown> = {}) {
      const { content } = await client.callTool({ name, arguments: args });
      return JSON.stringify(content);
    },
  };
}

test.each(["SDK 1", "legacy", "2026-07-28"] as const)("an app of one of two servers (%s)", async (era) => {
  const { folder, gateway } = team();
  const { client, draw, called } = await host("aggregate", era);
  expect(client.getServerCapabilities()?.extensions).toMatchObject({ [APPS]: {} });
  const before = callsOf(folder, "one").length;
  expect(await draw("two__show")).toBe("page of two");
  expect(await called("refresh", { message: "to ann@example.org" })).not.toContain("ann@");
  expect(callsOf(folder, "two").at(-1)).toBe("refresh");
  const allowed = callsOf(folder, "two").length;
  await expect(called("refresh", { message: "my password" })).resolves.toContain("rule 1 denies");
  expect(callsOf(folder, "two")).toHaveLength(allowed);
  await expect(called("only_one")).rejects.toThrow("Unknown tool: only_one");
  expect(callsOf(folder, "one")).toHaveLength(before);
  // The rules forbid it at server two: it is neither called there nor at the other server.
  const erased = callsOf(folder, "two").length;
  await expect(called("erase")).rejects.toThrow("Unknown tool: erase");
  expect(callsOf(folder, "two")).toHaveLength(erased);
  // Now it may be the app of either server that calls.
  expect(await draw("one__show")).toBe("page of one");
  await expect(called("refresh")).rejects.toThrow("Apps of several servers");
  await called("only_one");
  expect(callsOf(folder, "one").at(-1)).toBe("only_one");
  // What the app of server two may not call there is not called at server one instead.
  const erasedThere = callsOf(folder, "one").length;
  await expect(called("erase")).rejects.toThrow("Apps of several servers");
  expect(callsOf(folder, "one")).toHaveLength(erasedThere);
  expect(readsOf(folder, "stranger")).toEqual([]);
  const made = callsOf(folder, "two").filter((tool) => tool === "refresh");
  const records = await auditRecords(gateway, "&tool=refresh&outcome=ok", made.length);
  expect(records.at(-1)?.server.name).toBe("two");
});

test.each(["legacy", "2026-07-28"] as const)("a pinned tool is drawn on meta (%s)", async (era) => {
  const { folder } = team();
  const { client, names, draw, called } = await host("meta", era);
  expect(client.getServerCapabilities()?.extensions).toMatchObject({ [APPS]: {} });
  expect(names.slice(4)).toEqual(["two__show"]);
  expect(await draw("two__show")).toContain("page of two");
  await called("refresh");
  expect(callsOf(folder, "two").at(-1)).toBe("refresh");
  expect(readsOf(folder, "stranger")).toEqual([]);
});

test("no model reaches a tool that is only for apps", async () => {
  const { folder, gateway, key } = team();
  const before = callsOf(folder, "two").length;
  const { client } = await host("metatools", "legacy");
  const answers: [string, Record<string, unknown>][] = [
    ["run_tool", { tool_id: "two:refresh" }],
    ["run_chain", { steps: [{ tool_id: "two:refresh", args: {} }] }],
    ["execute_code", { language: "javascript", code: "await tools.two.refresh({})" }],
    ["describe_tool", { tool_id: "two:refresh" }],
    ["validate_tool_call", { tool_id: "two:refresh", args: {} }],
  ];
  for (const [name, args] of answers) {
    const answer = await client.callTool({ name, arguments: args }).catch((error: Error) => error.message);
    expect([name, JSON.stringify(answer)]).toEqual([
      name,
      expect.stringMatching(/isError":true|Unknown tool|not a function|"valid":false/),
    ]);
  }
  const http = (path: string, method = "POST") =>
    fetch(`${gateway.url}/metamcp/aggregate/api/${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(method === "POST" && { body: "{}" }),
    });
  const described = await (await http("openapi.json", "GET")).text();
  expect([described.includes("two__show"), described.includes("refresh")]).toEqual([true, false]);
  expect((await http("two__refresh")).status).toBe(404);
  expect((await http("two__show")).status).toBe(200);
  expect(callsOf(folder, "two").slice(before)).toEqual(["show"]);
});
