/**
 * The aggregate surface over stdio with real children: names, lists, unchanged bytes, and children that are
 * slow or dead.
 */
import { expect, test } from "vitest";
import { gateway } from "../../support/gateway.ts";
import { aggregate, entriesOf, listChanges, names } from "../../support/lists.ts";
import { failureOf, textOf } from "../../support/meta.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { fixture, temp } from "../../support/temp.ts";

test("tools of all servers are listed byte for byte except for their names, and can be called by the listed names", async () => {
  const folder = temp();
  const definition = `{"title":"T","inputSchema":{"type":"object","x":12345678901234567890},  "name":"odd","new":[1.0,-0,"\\u00e9\\/"],"annotations":{"z":1E400}}`;
  folder.write("answers.json", `{"tools/list":{"tools":[${definition}]}}`);
  folder.writeConfig({
    odd: fixture("--bare", "--answers", folder.path("answers.json")),
    "my server": fixture(),
  });
  const client = aggregate(folder);
  const { result } = await client.initialize();
  expect(result).toMatchObject({
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    },
  });
  const { raw } = await client.request("tools/list");
  expect(raw.toString()).toContain(definition.replace('"name":"odd"', '"name":"odd__odd"'));
  const listed = await names(client);
  const called = (tool: string): string => listed.find((name) => name.includes(`__${tool}_`)) ?? "";
  expect(called("echo")).toMatch(/^my_server__echo_[0-9a-f]{8}$/);
  expect(textOf(await client.tool(called("echo"), { message: "hi" }))).toBe("hi");
  expect(textOf(await client.tool("odd__odd", { message: "hi" }))).toBe("hi");

  // The child receives everything except the name unchanged.
  const params = (name: string): string =>
    `{"future":[1.50], "name":"${name}","arguments":{"n":12345678901234567890,"s":"\\ud800"},"_meta":{"a/b":1.0}}`;
  const echoed = await client.requestRaw(500, "tools/call", params(called("args")));
  const [seen] = entriesOf<{ text: string }>(echoed, "content");
  expect(Buffer.from(seen?.text ?? "", "base64").toString()).toBe(params("args"));

  const failed = await client.requestRaw(
    501,
    "tools/call",
    `{"name":"${called("fail")}","arguments":{"code":-32050,"message":"so","data":[1.0]}}`,
  );
  expect(failed.raw.toString()).toContain('"error":{"code":-32050,"message":"so","data":[1.0]}');
  expect(failureOf(await client.tool(called("add"), { a: "one", b: 2 }))).toMatchObject({
    code: "validation_input",
  });
  const unknown = await client.request("tools/call", { name: "odd__od" });
  expect(unknown.error).toMatchObject({ code: -32602 });
  expect(unknown.error?.message).toContain("odd__odd");
  await client.close();
});

test("a slow and a dead server do not delay the list, the log names them, and the client is notified when one arrives", async () => {
  const folder = temp();
  folder.writeConfig({
    late: fixture("--bare", "--tools", "1", "--wait-for", folder.path("open")),
    a: fixture("--bare", "--tools", "1"),
    dead: fixture("--exit-at-once", "3"),
  });
  const client = aggregate(folder);
  await client.initialize();
  expect(await names(client)).toEqual(["a__tool_0"]);
  await client.until(() => /does not include late: still starting/.test(client.stderr));
  await client.until(() => /does not include dead: .*exited with code 3/.test(client.stderr));
  // The second list does not wait again. A call waits only until its own name is known.
  expect(await names(client)).toEqual(["a__tool_0"]);
  expect(listChanges(client)).toEqual([]);
  const early = client.tool("late__tool_0", { message: "at last" });
  folder.write("open", "");
  expect(textOf(await early)).toBe("at last");
  await client.until(() => listChanges(client).length > 0);
  expect(listChanges(client)).toEqual(["notifications/tools/list_changed"]);
  // In the order of the config, whoever came first.
  expect(await names(client)).toEqual(["late__tool_0", "a__tool_0"]);

  expect(failureOf(await client.tool("dead__echo"))).toMatchObject({ code: "server_unavailable" });
  await client.close();
});

test("a call before any list starts only its own server", async () => {
  const folder = temp();
  const [own, other] = [folder.journal("own"), folder.journal("other")];
  folder.writeConfig({
    own: fixture("--journal", own.file, "--prompts", "1"),
    other: fixture("--journal", other.file),
  });
  const client = aggregate(folder);
  await client.initialize();
  expect(textOf(await client.tool("own__echo", { message: "hi" }))).toBe("hi");
  const { result } = await client.request("prompts/get", { name: "own__prompt_0" });
  expect(JSON.stringify(result)).toContain('\\"name\\":\\"prompt_0\\"');
  expect((await client.request("tools/call", { name: "own__nothing" })).error).toMatchObject({
    code: -32602,
  });
  expect(own.pids()).toHaveLength(1);
  expect(other.pids()).toEqual([]);
  await client.close();
});

test("a restarted gateway lists everything from its cache and starts no server", async () => {
  const folder = temp();
  const journal = folder.journal();
  const flags = ["--prompts", "1", "--resources", "1", "--templates", "1", "--instructions", "Be kind."];
  folder.writeConfig({ a: fixture("--journal", journal.file, "--bare", "--tools", "1", ...flags) });
  const all = async (client: RawClient) => ({
    tools: await names(client),
    prompts: await names(client, "prompts/list"),
    resources: await names(client, "resources/list"),
    templates: await names(client, "resources/templates/list"),
  });
  const first = aggregate(folder);
  await first.initialize();
  const lists = await all(first);
  expect(lists).toEqual({
    tools: ["a__tool_0"],
    prompts: ["a__prompt_0"],
    resources: ["fixture://item/0"],
    templates: ["fixture://by-id/0/{id}"],
  });
  expect(listChanges(first)).toEqual([]);
  await first.close();
  expect(journal.methods().toSorted()).toEqual(
    [
      "initialize",
      "notifications/initialized",
      "prompts/list",
      "resources/list",
      "resources/templates/list",
      "tools/list",
    ].toSorted(),
  );

  const second = aggregate(folder);
  const { result } = await second.initialize();
  expect(result?.["instructions"]).toBe("Be kind.");
  expect(await all(second)).toEqual(lists);
  expect(journal.pids()).toHaveLength(1);
  await second.close();
});

test("names without prefix stay unchanged unless two servers use the same name", async () => {
  const folder = temp();
  const bare = (name: string, ...more: string[]) => ({
    ...fixture("--bare", "--name", name, "--prompts", "1", ...more),
    prefix: "none",
  });
  folder.writeConfig({ a: bare("a", "--tools", "1"), b: bare("b", "--tools", "2") });
  const client = aggregate(folder);
  await client.initialize();
  expect(await names(client)).toEqual(["a__tool_0", "b__tool_0", "tool_1"]);
  expect(await names(client, "prompts/list")).toEqual(["a__prompt_0", "b__prompt_0"]);
  expect(textOf(await client.tool("tool_1", { message: "hi" }))).toBe("hi");
  await client.close();
});

test("a long list is paged, and its pages stay consistent while the list changes", async () => {
  const folder = temp();
  folder.writeConfig({
    many: fixture("--bare", "--tools", "1200", "--page", "500"),
    small: fixture(),
  });
  const client = aggregate(folder);
  await client.initialize();
  const whole = await names(client);
  expect(whole).toHaveLength(1_223);
  expect(new Set(whole).size).toBe(1_223);
  const first = await client.request("tools/list");
  await client.tool("small__change", { add: ["newcomer"] });
  await client.until(() => listChanges(client).length > 0);
  const { nextCursor: cursor } = first.result ?? {};
  const second = await client.request("tools/list", { cursor });
  expect(entriesOf<{ name: string }>(second, "tools")[0]?.name).toBe("many__tool_500");
  for (const wrong of ["x", "", `${String(cursor)}A`, 7]) {
    const { error } = await client.request("tools/list", { cursor: wrong });
    expect(error?.code).toBe(-32602);
  }
  expect((await client.request("prompts/list", { cursor })).error?.code).toBe(-32602);
  expect(await names(client)).toContain("small__newcomer");
  await client.close();
});

test("prompts, resources, templates and completions are routed to their server", async () => {
  const folder = temp();
  const items = (name: string, ...more: string[]) =>
    fixture("--bare", "--tools", "1", "--name", name, "--prompts", "1", ...more);
  folder.writeConfig({
    a: items("a", "--resources", "2", "--templates", "1"),
    b: items("b", "--resources", "1", "--templates", "2"),
    plain: fixture("--bare", "--tools", "1"),
  });
  const client = aggregate(folder);
  await client.initialize();
  expect(await names(client, "resources/list")).toEqual([
    "fixture://item/0",
    "fixture://item/1",
    "metamcp://server/b/fixture://item/0",
  ]);
  expect(await names(client, "resources/templates/list")).toEqual([
    "fixture://by-id/0/{id}",
    "metamcp://server/b/fixture://by-id/0/{id}",
    "fixture://by-id/1/{id}",
  ]);
  const read = async (uri: string): Promise<unknown> => {
    const answer = await client.request("resources/read", { uri });
    return answer.error ?? entriesOf<{ text: string }>(answer, "contents")[0]?.text;
  };
  expect(await read("fixture://item/0")).toBe("a fixture://item/0");
  expect(await read("metamcp://server/b/fixture://item/0")).toBe("b fixture://item/0");
  expect(await read("fixture://by-id/0/7")).toBe("a fixture://by-id/0/7");
  expect(await read("metamcp://server/b/fixture://by-id/0/7")).toBe("b fixture://by-id/0/7");
  expect(await read("fixture://by-id/1/7")).toBe("b fixture://by-id/1/7");
  expect(await read("fixture://nobody/1")).toMatchObject({
    code: -32002,
    data: { uri: "fixture://nobody/1" },
  });
  await client.until(() => client.stderr.includes("of b is shown under another URI: a has the same URI"));

  const complete = async (ref: object): Promise<string> => {
    const argument = { name: "id", value: "1" };
    const { result } = await client.request("completion/complete", { ref, argument });
    return JSON.stringify(result?.["completion"]);
  };
  expect(await complete({ type: "ref/prompt", name: "b__prompt_0" })).toContain('\\"name\\":\\"prompt_0\\"');
  const templated = { type: "ref/resource", uri: "metamcp://server/b/fixture://by-id/0/{id}" };
  expect(await complete(templated)).toContain('\\"uri\\":\\"fixture://by-id/0/{id}\\"');
  for (const [method, params] of [
    ["prompts/get", { name: "b__nothing" }],
    ["prompts/get", undefined],
    ["resources/read", {}],
    ["completion/complete", { ref: {} }],
    ["tools/call", { arguments: {} }],
  ] as const) {
    expect((await client.request(method, params)).error?.code, method).toBe(-32602);
  }
  await client.close();
});

test("an unknown method is forwarded if there is exactly one child", async () => {
  const folder = temp();
  folder.write("answers.json", '{"future/ask":{"n":12345678901234567890}}');
  const child = fixture("--answers", folder.path("answers.json"));
  for (const surface of ["aggregate", "auto"]) {
    const journal = folder.journal(surface);
    folder.writeConfig({ a: { ...child, args: [...child.args, "--journal", journal.file] } });
    const one = gateway(folder, { flags: ["--surface", surface] });
    await one.initialize();
    const { raw } = await one.request("future/ask", { x: 1 });
    expect(raw.toString()).toContain('"result":{"n":12345678901234567890}');
    one.notify("notifications/future", { x: 1 });
    expect((await one.request("future/else")).error).toMatchObject({ code: -32601 });
    expect(journal.methods().slice(-3)).toEqual(["future/ask", "notifications/future", "future/else"]);
    await one.close();
  }

  folder.writeConfig({ a: child, b: child });
  const two = aggregate(folder);
  await two.initialize();
  expect((await two.request("future/ask", { x: 1 })).error).toMatchObject({ code: -32601 });
  await two.close();
});

test("a denied tool is not listed and cannot be called by any name", async () => {
  const folder = temp();
  const journal = folder.journal();
  folder.writeConfig({
    a: { ...fixture("--journal", journal.file), tools: { deny: ["pid"] }, prefix: "none" },
  });
  const client = aggregate(folder);
  await client.initialize();
  expect(await names(client)).not.toContain("pid");
  for (const name of ["pid", "a__pid"])
    expect((await client.request("tools/call", { name })).error?.code).toBe(-32602);
  // A child that reads the first of two `name` members must not see another name than the checked one.
  await client.requestRaw(900, "tools/call", '{"name":"pid","name":"echo","arguments":{"message":""}}');
  expect(journal.events("message").some(({ tool }) => tool === "pid")).toBe(false);
  await client.close();
});
