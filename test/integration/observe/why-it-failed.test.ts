/** The record of a call that failed or was refused says why: to whom, as far as each may read it. */
import { describe, expect, test } from "vitest";
import { layeredTeam } from "../../support/layered-team.ts";
import type { AskAs } from "../../support/people.ts";
import { shared } from "../../support/shared.ts";
import { teamClient } from "../../support/team-gateway.ts";
import { teamPerson } from "../../support/team-person.ts";
import { until } from "../../support/until.ts";

const SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

const DENY = {
  use: "policy",
  default: "allow",
  rules: [
    { effect: "deny", tools: ["fix:weird"] },
    { effect: "deny", tools: ["fix:add"], args: { a: { min: 100 } } },
  ],
};

const team = shared(async () => {
  const made = await layeredTeam({
    namespace: { tools: [{ server: "fix", tool: "env", disabled: true }] },
    endpoint: { middleware: [DENY, { use: "redact", detect: ["email"] }] },
  });
  return { ...made, asViewer: (await teamPerson(made.gateway, "viewer")).ask };
});

/** Makes a call on the meta surface and returns its row for an administrator and for a viewer. */
async function rowsOf(tool: string, args: object, server = "fix") {
  const { gateway, api, key, asViewer } = team();
  const client = await teamClient(gateway, "meta", { key });
  await client.call("mcp_call", { server, tool, args }).catch(() => {});
  const path = `/calls?limit=1&tool=${tool}`;
  return { whole: firstOf(await api("GET", path)), part: firstOf(await asViewer("GET", path)) };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
function firstOf({ body }: { readonly body: any }): any {
  return body.items[0];
}

describe("a refused call names", () => {
  test("the switch of a namespace that hides the tool", async () => {
    const { whole } = await rowsOf("env", { names: [SECRET, "me@example.org"] });
    expect(whole).toMatchObject({ outcome: "refused", code: "tool_not_found", by: "namespace" });
    expect(whole).toMatchObject({ place: 'namespace "team"', reason: 'disabled in namespace "team"' });
    // Values are masked as on the way to the server, and secrets in any case.
    expect(JSON.stringify(whole.arguments)).not.toMatch(/ghp_|me@/);
    expect(whole.arguments.names).toHaveLength(2);
  });

  test("the rule that denies the tool", async () => {
    const { whole, part } = await rowsOf("weird", { a: 1 });
    expect(whole).toMatchObject({ code: "tool_not_found", by: "policy", place: 'endpoint "meta"' });
    expect(whole).toMatchObject({ reason: "rule 1 denies it", arguments: { a: 1 } });
    expect(part).toMatchObject({ reason: "rule 1 denies it" });
    expect(part.arguments).toBeUndefined();
  });

  test("the tool that is meant, if it is called by its name in the list of all tools", async () => {
    const { gateway, api } = team();
    const { ask } = await teamPerson(gateway, "member", { email: "lister@example.org" });
    const { key = "" } = (await ask("POST", "/api-keys", { name: "all", endpoints: ["aggregate"] })).body;
    const client = await teamClient(gateway, "aggregate", { key });
    for (const tool of ["fix__env", "fix__weird"]) await client.call(tool).catch(() => {});
    const { items } = (await api("GET", "/calls?endpoint=aggregate")).body;
    expect(items).toMatchObject([
      { server: { name: "fix" }, tool: "weird", asked: "fix__weird", by: "policy" },
      { server: { name: "fix" }, tool: "env", asked: "fix__env", by: "namespace" },
    ]);
    // Its caller sees the name that it used, and not that the tool exists.
    const mine = (await ask("GET", "/me/calls")).body.items;
    expect(mine).toMatchObject([
      { server: { name: "" }, tool: "fix__weird" },
      { server: { name: "" }, tool: "fix__env" },
    ]);
    expect(JSON.stringify(mine)).not.toMatch(/asked|policy|rule|namespace|"uuid":"[^"]*","name":"fix"/);
    const { body } = await api("GET", "/usage?range=1h&endpoint=aggregate");
    expect(body.flows).toMatchObject([{ server: { name: "fix" }, calls: 2, refused: 2 }]);
  });

  test("nothing to its caller that a name of no server would not", async () => {
    const { gateway } = team();
    const { ask } = await teamPerson(gateway, "member");
    const { key = "" } = (await ask("POST", "/api-keys", { name: "mine", endpoints: ["meta"] })).body;
    const client = await teamClient(gateway, "meta", { key });
    for (const server of ["fix", "nowhere"])
      await client.call("mcp_call", { server, tool: "weird", args: {} }).catch(() => {});
    const { items = [] } = (await ask("GET", "/me/calls")).body;
    const shown = items.map(({ server, by, place, reason }: Record<string, unknown>) => [
      server,
      by,
      place,
      reason,
    ]);
    const named = (name: string) => [{ name }, undefined, undefined, undefined];
    expect(shown).toEqual([named("nowhere"), named("fix")]);
  });

  test("the rule that denies the arguments", async () => {
    const { whole } = await rowsOf("add", { a: 200, b: 1 });
    expect(whole).toMatchObject({ code: "forbidden", by: "policy", arguments: { a: 200, b: 1 } });
    expect(whole.reason).toContain("rule 2 denies these arguments");
  });

  test("what is wrong with the arguments, and a tool that does not exist", async () => {
    expect((await rowsOf("echo", {})).whole).toMatchObject({ code: "validation_input" });
    expect((await rowsOf("echo", {})).whole.reason).toContain("message");
    expect((await rowsOf("nothing", {})).whole.reason).toContain('no tool "nothing"');
  });
});

describe("a failed call keeps", () => {
  test("what the server said, for administrators only and without secrets", async () => {
    const { whole, part } = await rowsOf("is_error", { message: `no luck with ${SECRET}` });
    expect(whole.results.error).toMatch(/^no luck with /);
    expect(JSON.stringify(whole.results)).not.toContain(SECRET.slice(4));
    expect(part.results).toBeUndefined();
    expect(JSON.stringify(part)).not.toContain("no luck");
    const { whole: failed } = await rowsOf("fail", { code: -32_001, message: "out of paper" });
    expect(failed).toMatchObject({ code: "execution_failed", results: { error: "out of paper" } });
  });

  test("why the process died, and its last words for administrators only", async () => {
    const { whole, part } = await rowsOf("crash", { message: "no more room" });
    expect(whole).toMatchObject({ outcome: "error", code: "server_unavailable" });
    expect(whole.reason).toMatch(/process (exited|was killed)/);
    expect(part.reason).toBe(whole.reason);
    expect(part.results).toBeUndefined();
  });
});

test("a call by a name in the list of all tools belongs to the server that cannot list them", async () => {
  const { gateway, api, key } = team();
  const ends = { name: "gone", command: process.execPath, args: ["-e", "process.exit(3)"] };
  expect((await api("POST", "/mcp-servers", ends)).status).toBe(201);
  const [namespace] = (await api("GET", "/namespaces")).body.items;
  await api("PATCH", `/namespaces/${namespace.uuid}`, { servers: [{ server: "fix" }, { server: "gone" }] });
  const client = await teamClient(gateway, "aggregate", { key });
  await client.call("gone__look", { names: [SECRET, "me@example.org"] }).catch(() => {});
  const { items } = (await api("GET", "/calls?server=gone")).body;
  expect(items).toMatchObject([
    { server: { name: "gone", uuid: expect.any(String) }, tool: "look", code: "server_unavailable" },
  ]);
  // It never left the pipeline: its arguments are masked as on the way to the server, and secrets in any case.
  expect(items[0].arguments.names).toHaveLength(2);
  expect(JSON.stringify(items[0].arguments)).not.toMatch(/ghp_|me@/);
  const { flows } = (await api("GET", "/usage?range=1h&server=gone")).body;
  expect(flows).toMatchObject([{ server: { name: "gone" }, calls: 1, errors: 1 }]);
});

test("the audit log says the same, and older programs show no more of it to viewers", async () => {
  const { api, asViewer } = team();
  await rowsOf("is_error", { message: "not today" });
  const find = async (ask: AskAs | typeof api) => firstOf(await ask("GET", "/audit?tool=is_error&limit=1"));
  const whole = await until(
    async () => {
      const newest = await find(api);
      return newest?.results?.error === "not today" && newest;
    },
    { what: "the record" },
  );
  // A program that does not know these members hides `results` from viewers, so what is theirs stands there.
  expect(Object.keys(whole)).not.toContain("error");
  expect((await find(asViewer)).results).toBeUndefined();
  expect((await api("GET", "/audit/verify")).body.ok).toBe(true);
});
