/** Pinned tools: listed in full beside our own tools, and called by their aggregate names. */
import { describe, expect, test } from "vitest";
import { metamcp } from "../../support/command.ts";
import { gateway } from "../../support/gateway.ts";
import { aggregate, entriesOf, listChanges, names } from "../../support/lists.ts";
import { textOf } from "../../support/meta.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

const PINNED = ["files:echo", "files:add", "web:echo"];
const META = ["mcp_discover", "mcp_provision", "mcp_call", "mcp_execute"];

const servers = (folder: Temp) => ({
  web: fixture("--journal", folder.path("web.log")),
  files: fixture("--journal", folder.path("files.log")),
  other: fixture("--journal", folder.path("other.log")),
});

const toolsOf = async (client: RawClient) =>
  entriesOf<{ name: string; inputSchema: object }>(await client.request("tools/list"), "tools");

describe.each(["meta", "metatools", "auto"])("on %s", (surface) => {
  const own = surface === "metatools" ? 8 : 4;
  const start = (folder: Temp) => gateway(folder, { flags: ["--surface", surface] });

  test("they are listed as on the aggregate surface, and called by these names", async () => {
    const folder = temp();
    folder.writeConfig(servers(folder), { pinned: PINNED, autoMaxBytes: 100 });
    const client = start(folder);
    await client.initialize();
    const listed = await toolsOf(client);
    const pinned = listed.slice(own);
    // To decide, auto needs all lists.
    if (surface !== "auto") expect(folder.journal("other.log").events("start")).toEqual([]);
    expect(pinned.map(({ name }) => name)).toEqual(["web__echo", "files__add", "files__echo"].sort(byList));
    const all = aggregate(folder);
    await all.initialize();
    const whole = await toolsOf(all);
    expect(pinned).toEqual(whole.filter(({ name }) => pinned.some((one) => one.name === name)));
    await all.close();
    expect(textOf(await client.tool("files__echo", { message: "hi" }))).toBe("hi");
    const wrong = await client.tool("files__add", { a: "no number" });
    expect(wrong).toMatchObject({ isError: true });
    const unlisted = await client.request("tools/call", { name: "files__count", arguments: {} });
    expect(unlisted.error).toMatchObject({ code: -32602 });
    await client.close();
  });

  test("a change of the config tells clients, and needs no restart", async () => {
    const folder = temp();
    folder.writeConfig(servers(folder), { autoMaxBytes: 100 });
    const client = start(folder);
    await client.initialize();
    expect(await names(client)).toHaveLength(own);
    folder.writeConfig(servers(folder), { pinned: ["web:add"], autoMaxBytes: 100 });
    await until(() => listChanges(client).includes("notifications/tools/list_changed"), {
      what: "list_changed",
    });
    expect((await names(client)).slice(own)).toEqual(["web__add"]);
    const told = listChanges(client).length;
    folder.writeConfig(servers(folder), { autoMaxBytes: 100 });
    await until(() => listChanges(client).length > told, { what: "list_changed" });
    expect(await names(client)).toHaveLength(own);
    await client.close();
  });
});

/** The fixture lists echo before add. */
const byList = (a: string, b: string): number => ORDER.indexOf(a) - ORDER.indexOf(b);
const ORDER = ["web__echo", "files__echo", "files__add"];

test("what a caller may not see is not listed and not called", async () => {
  const folder = temp();
  const { web, files } = servers(folder);
  folder.writeConfig({ web: { ...web, tools: { deny: ["echo"] } }, files }, { pinned: PINNED });
  const client = gateway(folder);
  await client.initialize();
  expect((await names(client)).slice(4)).toEqual(["files__echo", "files__add"]);
  const refused = await client.request("tools/call", { name: "web__echo", arguments: { message: "x" } });
  const unknown = await client.request("tools/call", { name: "web__nothing", arguments: {} });
  expect(refused.error?.code).toBe(unknown.error?.code);
  expect(refused.error?.message).toMatch(/^Unknown tool: web__echo\./);
  await client.close();
});

test("a call of a name that is not known yet starts its server alone", async () => {
  const folder = temp();
  folder.writeConfig(servers(folder), { pinned: PINNED });
  const client = gateway(folder);
  await client.initialize();
  expect(textOf(await client.tool("web__echo", { message: "cold" }))).toBe("cold");
  expect(folder.journal("files.log").events("start")).toHaveLength(0);
  await client.close();
});

test("a tool without a prefix does not take the name of one of ours", async () => {
  const folder = temp();
  const file = folder.write(
    "tools.json",
    JSON.stringify([
      { name: "mcp_call", inputSchema: { type: "object" } },
      { name: "plain", inputSchema: { type: "object" } },
    ]),
  );
  const odd = { ...fixture("--bare", "--tools-file", file), prefix: "none" };
  folder.writeConfig({ odd }, { pinned: ["odd:mcp_call", "odd:plain"] });
  const client = gateway(folder);
  await client.initialize();
  const listed = await names(client);
  expect(listed.slice(0, 4)).toEqual(META);
  expect(listed.slice(4)).toEqual(["odd__mcp_call", "odd__plain"]);
  await client.close();
});

test("doctor and tools name what is missing, and tools --suggest what is called often", async () => {
  const folder = temp();
  const { web, files } = servers(folder);
  const pinned = ["web:echo", "web:nothing", "files:echo"];
  const examples = { fromUsage: true };
  folder.writeConfig({ web, files: { ...files, tools: { deny: ["echo"] } } }, { pinned, examples });
  const client = gateway(folder);
  await client.initialize();
  for (const a of [1, 2]) await client.tool("mcp_call", { server: "web", tool: "add", args: { a, b: a } });
  await client.tool("web__echo", { message: "x" });
  await client.close();
  const doctor = JSON.parse((await metamcp(folder, ["doctor", "--json"])).out);
  expect(doctor.pinned).toEqual([
    { id: "web:nothing", reason: "its server has no such tool" },
    { id: "files:echo", reason: "its server has no such tool, or the rules hide it" },
  ]);
  const tools = JSON.parse((await metamcp(folder, ["tools", "--json"])).out);
  expect(tools.tools.map(({ name }: { name: string }) => name)).toContain("web__echo");
  expect(tools.missing).toEqual(doctor.pinned);
  const { suggested } = JSON.parse((await metamcp(folder, ["tools", "--suggest", "--json"])).out);
  expect(suggested).toMatchObject([{ id: "web:add", calls: 2 }]);
  folder.writeConfig({ web }, { pinned: ["nobody:echo", "echo", 3] });
  const { out } = await metamcp(folder, ["doctor"]);
  expect(out).toContain('! pinned[0]: there is no server "nobody".');
  expect(out).toContain('! pinned[1] is ignored: write "SERVER:TOOL"');
});
