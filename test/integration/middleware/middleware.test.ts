/**
 * Layers in personal mode, for the whole file and for a server, and custom layers in personal mode and at a
 * gateway.
 */

import { copyFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adminFetch } from "../../support/admin-answers.ts";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { layeredTeam } from "../../support/layered-team.ts";
import { discover, failureOf, textOf } from "../../support/meta.ts";
import { ADMIN_TOKEN, teamClient, teamGateway } from "../../support/team-gateway.ts";
import { fixture, ROOT, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const HIDDEN = [{ use: "filter", deny: ["fix:weird"] }];
const TWO_PER_MINUTE = [{ use: "rate-limit", requests: 2, per: "60s" }];

async function personal(server: object, top: object, flags: readonly string[] = []) {
  const folder = temp();
  const journal = folder.journal();
  const entry = { ...fixture("--journal", journal.file), ...server };
  folder.writeConfig({ fix: entry, other: fixture() }, { ...top });
  const client = gateway(folder, { flags: ["--log-level", "error", ...flags] });
  await client.initialize();
  const reached = (tool: string) => journal.events("message").filter((event) => event.tool === tool).length;
  return { folder, client, entry, reached };
}

test("layers of the file and of a server apply to lists, calls, code and commands", async () => {
  const { folder, client, reached } = await personal({ middleware: TWO_PER_MINUTE }, { middleware: HIDDEN });
  const found = await discover(client, { server: "fix", limit: 100 });
  expect(found.tools?.map(({ tool }) => tool)).toContain("echo");
  expect(JSON.stringify(found)).not.toContain("weird");
  const hidden = failureOf(await client.mcpCall("fix", "weird", {}));
  expect(hidden.code).toBe("tool_not_found");
  expect(hidden.message).not.toMatch(/did you mean "weird"/i);
  expect(failureOf(await client.mcpCall("fix", "weir", {})).message).not.toContain("weird");
  const code =
    "return (await Promise.allSettled([1, 2, 3].map((n) => tools.fix.echo({ message: String(n) })))).filter((one) => one.status === 'fulfilled').length";
  expect(textOf(await client.tool("mcp_execute", { code }))).toContain("2");
  expect(failureOf(await client.mcpCall("fix", "echo", { message: "x" })).code).toBe("rate_limited");
  expect(textOf(await client.mcpCall("other", "echo", { message: "free" }))).toBe("free");
  expect(reached("echo")).toBe(2);
  const wanted = { intent: "weird: a result that hardly anyone can read" };
  expect(textOf(await client.tool("mcp_provision", wanted))).not.toMatch(/"server":"fix"/);
  const named = ["--config", folder.config];
  const called = await metamcp(folder, ["call", "fix", "weird", "{}", ...named]);
  expect([called.code, called.err + called.out]).toEqual([1, expect.stringMatching(/has no tool "weird"/)]);
  const searched = await metamcp(folder, [
    "search",
    "a result that hardly anyone can read",
    "--json",
    ...named,
  ]);
  const hits: { tool: string; server: string }[] = JSON.parse(searched.out).tools;
  expect(hits.filter(({ tool }) => tool === "weird").map(({ server }) => server)).toEqual(["other"]);
});

test("an invalid layer of a server disables that server, and an invalid layer of the file prevents the start", async () => {
  const { folder, client } = await personal({ middleware: [{ use: "rate-limt", requests: 1 }] }, {});
  const { servers } = await discover(client);
  expect(servers?.map(({ name, state }) => [name, state])).toEqual([
    ["other", "idle"],
    ["fix", "failed"],
  ]);
  expect(servers?.[1]?.reason).toMatch(/middleware\/0\/use "rate-limt" is not a layer/);
  const list = await metamcp(folder, ["list", "--config", folder.config]);
  expect(list.out).toMatch(/fix .*rate-limt/);
  for (const [top, reason] of [
    [{ middleware: [{ use: "filter", alow: [] }] }, /\.mcp\.json:\d+:\d+: middleware\/0\/alow/],
    [{ middleware: {} }, /middleware is an object: write a list/],
    [{ midleware: HIDDEN }, /"midleware" is unknown: write "middleware"/],
    [{ middleware: [{ use: "./mine.mjs" }] }, /middleware\/0\/use needs --middleware-dir/],
    [
      {
        middleware: [
          { use: "cache", ttlMs: "1m" },
          { use: "filter", deny: ["x"] },
        ],
      },
      /"cache" must be inside "filter"/,
    ],
  ] as const) {
    folder.writeConfig({ fix: fixture() }, top);
    const { code, err } = await metamcp(folder, ["--config", folder.config], "");
    expect([code, err]).toEqual([1, expect.stringMatching(reason)]);
  }
});

test("a changed file changes the layers for connected clients, and an invalid one keeps the old layers", async () => {
  const { folder, client, entry } = await personal({}, {});
  expect(JSON.stringify(await discover(client, { server: "fix", limit: 100 }))).toContain("weird");
  const replace = (top: object) => {
    writeFileSync(folder.path("new"), JSON.stringify({ mcpServers: { fix: entry }, ...top }));
    renameSync(folder.path("new"), folder.config);
  };
  const shows = async () =>
    JSON.stringify(await discover(client, { server: "fix", limit: 100 })).includes("weird");
  replace({ middleware: HIDDEN });
  await until(async () => !(await shows()), { what: "the tool to go" });
  replace({ middleware: [{ use: "nothing" }] });
  await until(async () =>
    /cannot be used, so the last valid one/.test((await discover(client)).notice ?? ""),
  );
  expect(await shows()).toBe(false);
  replace({});
  await until(shows, { what: "the tool to come back" });
});

/** Copies the example of the documentation into the folder for --middleware-dir. */
function customLayers(folder: Temp): string {
  copyFileSync(join(ROOT, "examples/middleware/change-ticket.mjs"), folder.path("change-ticket.mjs"));
  return folder.path(".");
}

test("a custom layer works in personal mode", async () => {
  const folder = temp();
  const journal = folder.journal();
  const middleware = [{ use: "./change-ticket.mjs", prefix: "OPS-" }];
  folder.writeConfig({ fix: fixture("--journal", journal.file) }, { middleware });
  const client = gateway(folder, { flags: ["--middleware-dir", customLayers(folder)] });
  await client.initialize();
  expect(failureOf(await client.mcpCall("fix", "count", { key: "a" }))).toMatchObject({
    code: "forbidden",
    message: expect.stringContaining('"ticket" begins with OPS-'),
  });
  expect(textOf(await client.mcpCall("fix", "count", { key: "a", ticket: "OPS-1" }))).toBe("a 1");
});

test("a custom layer at a gateway applies to requests, calls and lists", async () => {
  const folder = temp();
  const made = await layeredTeam({
    folder,
    flags: ["--middleware-dir", customLayers(folder)],
    server: { labels: ["production"] },
    namespace: { tools: [{ server: "fix", tool: "count_safe", annotations: { readOnlyHint: true } }] },
    endpoint: { middleware: [{ use: "./change-ticket.mjs", prefix: "OPS-", frozen: ["production"] }] },
  });
  const { gateway: team, key, api, reached } = made;
  const meta = await teamClient(team, "meta", { key });
  const aggregate = await teamClient(team, "aggregate", { key });
  expect((await aggregate.tools()).filter((name) => /count/.test(name))).toEqual(["fix__count_safe"]);
  expect(await aggregate.call("fix__count_safe", { key: "read" })).toBe("read 1");
  expect(await meta.call("mcp_call", { server: "fix", tool: "count", args: { key: "a" } })).toMatch(
    /tool_not_found/,
  );
  expect(await meta.call("mcp_execute", { code: "return 1" })).toMatch(
    /no code is run while changes are frozen/,
  );
  const { items } = (await api("GET", "/endpoints")).body;
  for (const { uuid } of items)
    await api("PATCH", `/endpoints/${uuid}`, {
      middleware: [{ use: "./change-ticket.mjs", prefix: "OPS-" }],
    });
  expect(await aggregate.call("fix__count", { key: "a" })).toMatch(/forbidden.*begins with OPS-/s);
  expect(await aggregate.call("fix__count", { key: "a", ticket: "OPS-1" })).toBe("a 1");
  expect(reached("count")).toBe(1);
  const wrong = await api("PATCH", `/endpoints/${items[0].uuid}`, {
    middleware: [{ use: "./change-ticket.mjs", prefix: "OPS-", froze: [] }],
  });
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, "/middleware/0/froze"]);
  const [call] = (await api("GET", "/calls?outcome=refused&endpoint=aggregate")).body.items;
  expect(call).toMatchObject({
    by: "./change-ticket.mjs",
    layers: [{ use: "./change-ticket.mjs", outcome: "refused" }],
  });
});

test("a layer around requests also applies to the HTTP API", async () => {
  const folder = temp();
  const refuse = `if (request.method === "tools/call" && String(request.params).includes("stop"))
    throw new MetaMcpError("forbidden", "not today")`;
  folder.write(
    "gate.mjs",
    `export default { schema: { properties: {} }, compile: (_, { MetaMcpError }) => ({
      request: (next) => (request) => { ${refuse}; return next(request); },
    }) };`,
  );
  const {
    gateway: made,
    key,
    api,
    reached,
  } = await layeredTeam({
    folder,
    flags: ["--middleware-dir", folder.path(".")],
    endpoint: { openapi: true, middleware: [{ use: "./gate.mjs" }] },
  });
  const post = (message: string) =>
    fetch(`${made.url}/metamcp/aggregate/api/fix__echo`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ message }),
    });
  expect((await post("go")).status).toBe(200);
  const refused = await post("stop");
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("not today")]);
  expect(reached("echo")).toBe(1);
  const [record] = (await api("GET", "/calls?outcome=refused")).body.items;
  expect(record).toMatchObject({ by: "./gate.mjs", code: "forbidden", surface: "openapi" });
});

test("a layer outside the folder is rejected, and a gateway does not start without a layer that it uses", async () => {
  const folder = temp();
  const outside = temp();
  const dir = customLayers(folder);
  symlinkSync(outside.write("out.mjs", "export default {}"), folder.path("out.mjs"));
  const { api, gateway: team } = await layeredTeam({ folder, flags: ["--middleware-dir", dir] });
  const { items } = (await api("GET", "/endpoints")).body;
  const patch = (use: string) =>
    api("PATCH", `/endpoints/${items[0].uuid}`, { middleware: [{ use, prefix: "x" }] });
  for (const use of ["./out.mjs", "../out.mjs", "/etc/passwd", "./none.mjs", "change-ticket.mjs"])
    expect((await patch(use)).body.errors?.[0]?.path).toBe("/middleware/0/use");
  const editor = (await api("POST", "/api-keys", { name: "editor", role: "editor" })).body.key;
  const answer = await adminFetch(`${team.url}/api/v1/endpoints/${items[0].uuid}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${editor}`, "content-type": "application/json" },
    body: JSON.stringify({ middleware: [{ use: "./change-ticket.mjs", prefix: "x" }] }),
  });
  expect(answer.status, "only administrators decide what code is loaded").toBe(403);
  expect((await patch("./change-ticket.mjs")).status).toBe(200);
  await team.stop();
  await expect(teamGateway(folder)).rejects.toThrow(/\/middleware\/0\/use: needs --middleware-dir/);
  const again = await teamGateway(folder, {
    flags: ["--middleware-dir", dir],
    env: { METAMCP_ADMIN_TOKEN: ADMIN_TOKEN },
  });
  expect((await again.api("GET", "/endpoints")).status).toBe(200);
});

test.each(["meta", "aggregate"])(
  "an unknown notification outside of calls passes no layer, so it is dropped where there is one (%s)",
  async (surface) => {
    for (const [middleware, heard] of [
      [undefined, true],
      [[{ use: "redact", detect: ["email"], in: ["results"] }], false],
    ] as const) {
      const folder = temp();
      folder.writeConfig({ fix: fixture() }, middleware ? { middleware } : {});
      const client = gateway(folder, { flags: ["--surface", surface] });
      await client.initialize();
      const call = (tool: string, args: object) =>
        surface === "meta" ? client.mcpCall("fix", tool, args) : client.tool(`fix__${tool}`, args);
      const [params, after] = [{ text: "ada@example.com" }, "notifications/elicitation/complete"];
      await call("notify", { method: "notifications/future", params, later: true, after });
      await client.until(() => client.notifications.some(({ method }) => method === after));
      // One that comes together with the answer still belongs to the call, and is masked.
      expect(JSON.stringify(client.notifications).includes("ada@example.com")).toBe(heard);
      await client.close();
    }
  },
);
