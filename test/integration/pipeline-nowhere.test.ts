/** A tool that a layer denies is nowhere: in no list, search, description, hint, example, error or description of the API. */
import { expect, test } from "vitest";
import { layeredTeam } from "../support/layered-team.ts";
import { teamClient } from "../support/team-gateway.ts";

/** Neither its own name nor the one that the namespace gives it, nor what it says of itself. */
const TRACE = /weird|uncanny|hardly anyone/i;

const DENIED = {
  filter: [{ use: "filter", deny: ["fix:weird"] }],
  policy: [{ use: "policy", default: "allow", rules: [{ effect: "deny", tools: ["fix:weird"] }] }],
  "policy that allows others": [{ use: "policy", rules: [{ effect: "allow", tools: ["fix:e*", "fix:c*"] }] }],
};

test.each(Object.entries(DENIED))("%s", async (_name, middleware) => {
  const { gateway, key, reached } = await layeredTeam({
    server: { examples: { weird: [{}], echo: [{ message: "hello" }] } },
    namespace: { tools: [{ server: "fix", tool: "weird", name: "uncanny" }] },
    endpoint: { openapi: true, middleware },
  });
  const said = new Map<string, string>();
  const note = async (what: string, work: Promise<unknown>) => {
    const value = await work.catch((error: unknown) => String(error));
    said.set(what, typeof value === "string" ? value : JSON.stringify(value));
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
  await note("discover as types", meta.call("mcp_discover", { server: "fix", limit: 100, detail: "types" }));
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

  for (const [what, text] of said) expect([what, TRACE.exec(text)?.[0]]).toEqual([what, undefined]);
  expect(said.get("lists"), "others are there").toContain("echo");
  expect(said.get("openapi.json")).toContain("fix__echo");
  expect(said.get("examples of others")).toContain("hello");

  // By its very name it does not exist, whichever way it is called.
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
});
