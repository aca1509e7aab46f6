/**
 * The metatools surface over stdio: its list of tools, and how clients search and list the tools of servers.
 */
import { expect, test } from "vitest";
import { Metatools, verbatim } from "../../support/metatools.ts";
import { FIXTURE_TOOLS, fixture, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

test("the metatools are listed with input and output schemas without starting a server", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({ a: fixture("--journal", journal.file) });
  const metatools = await Metatools.open(folder);
  expect(metatools.definitions.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "search_tools",
      "list_tools",
      "list_namespaces",
      "describe_tool",
      "list_tool_examples",
      "run_tool",
      "run_chain",
    ]),
  );
  for (const { inputSchema, outputSchema } of metatools.definitions) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: "object", additionalProperties: false });
  }
  expect(journal.pids()).toEqual([]);
  expect(await metatools.refused("no_such_tool", {})).toMatchObject({ code: -32602 });
  await metatools.close();
});

test("search_tools, list_tools and list_namespaces list what exists, and unavailable servers with their reasons", async () => {
  const folder = temp();
  folder.writeConfig({
    b: fixture("--tools", "3"),
    a: fixture("--bare", "--tools", "2"),
    down: { command: "no-such-command" },
    broken: {},
  });
  const metatools = await Metatools.open(folder);
  const found = await metatools.call("search_tools", { query: "add two numbers", limit: 2 });
  expect(found.value.tools[0]).toEqual({
    id: "b:add",
    name: "add",
    namespace: "b",
    shortDescription: "Adds two numbers.",
    tags: [],
  });
  expect(found.value.tools).toHaveLength(2);
  const unavailable = [
    { server: "down", reason: expect.stringMatching(/not found/) },
    { server: "broken", reason: expect.stringMatching(/command/) },
  ];
  expect(found.value.unavailable).toEqual(unavailable);
  expect(found.text).toMatch(/"unavailable":\[\{"server":"down".*"server":"broken"/);

  const all = await metatools.call("list_tools", { limit: 1_000 });
  const ids = all.value.tools.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(FIXTURE_TOOLS + 3 + 2);
  expect(ids).toEqual(ids.toSorted((a: string, b: string) => (a < b ? -1 : 1)));
  expect(all.value).not.toHaveProperty("nextCursor");
  const own = await metatools.call("list_tools", { namespace: "a" });
  expect(own.value).toMatchObject({ tools: [{ id: "a:tool_0" }, { id: "a:tool_1" }], unavailable: [] });
  expect((await metatools.call("list_namespaces")).value).toEqual({ namespaces: ["a", "b"], unavailable });

  expect((await metatools.call("list_tools", { namespace: "down" })).value).toMatchObject({
    tools: [],
    unavailable: [{ server: "down" }],
  });
  const unknown = await metatools.call("list_tools", { namespace: "dwn" });
  expect(unknown.error).toMatchObject({ code: "server_not_found", details: { nearest: ["down"] } });
  expect((await metatools.call("search_tools", { query: "  " })).error?.code).toBe("validation_input");
  await metatools.close();
});

test("without servers the answers are empty, not errors", async () => {
  const folder = temp();
  const metatools = await Metatools.open(folder);
  expect((await metatools.call("search_tools", { query: "anything" })).value).toEqual({
    tools: [],
    unavailable: [],
  });
  const listed = await metatools.call("list_namespaces");
  expect(listed.value).toEqual({ namespaces: [], unavailable: [] });
  expect(listed.content[1]?.text).toMatch(/no config file/);
  await metatools.close();
});

test("a limit above 100 is reduced to 100, and short descriptions are cut to 120 code points at grapheme boundaries", async () => {
  const folder = temp();
  const family = "👨‍👩‍👧‍👦";
  const tools = Array.from({ length: 130 }, (_, n) => ({
    name: `t${n}`,
    description: family.repeat(40),
    inputSchema: { type: "object" },
  }));
  folder.writeConfig({ v: verbatim(folder, tools) });
  const metatools = await Metatools.open(folder);
  const { value } = await metatools.call("list_tools", { limit: 100_000 });
  expect(value.tools).toHaveLength(100);
  expect(value.nextCursor).toEqual(expect.any(String));
  expect((await metatools.call("list_tools")).value.tools).toHaveLength(20);
  for (const { shortDescription } of value.tools as { shortDescription: string }[]) {
    expect([...shortDescription].length).toBeLessThanOrEqual(120);
    expect(shortDescription.replaceAll(family, "")).toMatch(/^(…|Gives the result it is told to\.)$/);
  }
  const refused = await metatools.call("list_tools", { limit: 0 });
  expect(refused.error).toMatchObject({ code: "validation_input", op: "list_tools" });
  await metatools.close();
});

test("paging returns each item once, and a cursor is valid only for its query, caller and content", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--bare", "--tools", "23"), b: fixture() });
  const metatools = await Metatools.open(folder);
  const allPages = async (name: string, args: object): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { value } = await metatools.call(name, { ...args, cursor });
      ids.push(...(value.tools as { id: string }[]).map(({ id }) => id));
      cursor = value.nextCursor;
    }
    return ids;
  };
  const listed = await allPages("list_tools", { limit: 7 });
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed).toHaveLength(FIXTURE_TOOLS + 23);
  const found = await allPages("search_tools", { query: "tool number", limit: 4 });
  expect(new Set(found).size).toBe(found.length);
  expect(found).toEqual(await allPages("search_tools", { query: "tool number", limit: 100 }));

  const { nextCursor: cursor } = (await metatools.call("list_tools", { limit: 3 })).value;
  const invalid = { code: -32602, message: expect.stringMatching(/cursor/) };
  expect(await metatools.refused("list_tools", { cursor, namespace: "a" })).toMatchObject(invalid);
  expect(await metatools.refused("list_namespaces", { cursor })).toMatchObject(invalid);
  expect(await metatools.refused("search_tools", { query: "x", cursor })).toMatchObject(invalid);
  expect(await metatools.refused("list_tools", { cursor: `${cursor.slice(0, -2)}AA` })).toMatchObject(
    invalid,
  );
  expect(await metatools.refused("list_tools", { cursor: "" })).toMatchObject(invalid);
  const other = await Metatools.open(folder);
  await other.call("list_tools");
  expect(await other.refused("list_tools", { cursor })).toMatchObject(invalid);
  await other.close();

  // First a refresh without changes, then one with changes.
  await metatools.call("run_tool", { tool_id: "b:change" });
  expect((await metatools.call("list_tools", { cursor, limit: 3 })).value.tools).toHaveLength(3);
  await metatools.call("run_tool", { tool_id: "b:change", args: { add: ["brand_new"] } });
  await until(
    async () =>
      JSON.stringify((await metatools.call("search_tools", { query: "brand new" })).value).includes(
        "brand_new",
      ),
    { what: "the new tool" },
  );
  expect(await metatools.refused("list_tools", { cursor, limit: 3 })).toMatchObject(invalid);
  await metatools.close();
});

test("clients are notified with list_changed exactly when the searchable tools changed", async () => {
  const folder = temp();
  folder.writeConfig({ a: fixture("--prompts", "1") });
  const metatools = await Metatools.open(folder);
  const { client } = metatools;
  await metatools.call("list_tools");
  const notified = (): number =>
    client.notifications.filter(({ method }) => method === "notifications/tools/list_changed").length;
  await client.until(() => notified() >= 1);
  /**
   * The last call takes longer than the delay of a notification, so a due notification arrives before its
   * answer.
   */
  const changed = async (args: object, expected: number): Promise<void> => {
    await metatools.call("run_tool", { tool_id: "a:change", args });
    await client.until(() => notified() >= expected);
    await metatools.call("run_tool", { tool_id: "a:sleep", args: { ms: 1_500 } });
    expect(notified()).toBe(expected);
  };
  await changed({}, 1);
  await changed({ prompts: ["another"] }, 1);
  await changed({ add: ["one", "two"] }, 2);
  await changed({}, 2);
  await client.request("tools/list");
  await changed({ remove: ["one"] }, 3);
  await metatools.close();
});
