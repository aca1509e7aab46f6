/** MCP Apps: pages belong to the server whose tool names them, on every surface. */
import { expect, test } from "vitest";
import { appServer, callsOf, HOST, PAGE, readsOf } from "../../support/app-server.ts";
import { gateway } from "../../support/gateway.ts";
import { aggregate, entriesOf, names } from "../../support/lists.ts";
import { failureOf } from "../../support/meta.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { type Temp, temp } from "../../support/temp.ts";
import { until } from "../../support/until.ts";

async function read(client: RawClient, uri: string): Promise<string | undefined> {
  const { result, error } = await client.request("resources/read", { uri });
  return error?.message ?? (result as { contents: { text: string }[] }).contents[0]?.text;
}

async function pagesOf(client: RawClient): Promise<Record<string, string>> {
  type Listed = { name: string; _meta: { ui: { resourceUri: string }; "ui/resourceUri": string } };
  const tools = entriesOf<Listed>(await client.request("tools/list"), "tools");
  for (const { _meta } of tools) expect(_meta["ui/resourceUri"]).toBe(_meta.ui.resourceUri);
  return Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta.ui.resourceUri]));
}

test("a page is read from the server whose tool names it, and never asked of another", async () => {
  const folder = temp();
  folder.writeConfig({
    stranger: appServer(folder, "stranger", { tools: {} }),
    weather: appServer(folder, "weather", { tools: { show: PAGE } }),
  });
  const client = aggregate(folder);
  await client.initialize();
  expect(await read(client, PAGE)).toBe("page of weather");
  expect(await read(client, "ui://nobody/knows")).toContain("not found");
  expect(readsOf(folder, "stranger")).toEqual([]);
  expect(readsOf(folder, "weather")).toHaveLength(1);
  await client.close();
});

test("a stranger that lists the page of another server does not get its reads", async () => {
  const folder = temp();
  folder.writeConfig({
    stranger: appServer(folder, "stranger", { tools: {}, lists: [PAGE] }),
    weather: appServer(folder, "weather", { tools: { show: PAGE } }),
  });
  const client = aggregate(folder);
  await client.initialize();
  await client.request("tools/list");
  const listed = entriesOf<{ uri: string }>(await client.request("resources/list"), "resources");
  expect(listed.map(({ uri }) => uri)).toEqual(["ui://metamcp/stranger/dashboard/main"]);
  expect(await read(client, PAGE)).toBe("page of weather");
  expect(readsOf(folder, "stranger")).toEqual([]);
  expect(await read(client, "ui://metamcp/stranger/dashboard/main")).toBe("page of stranger");
  await client.close();
});

const addressIn = (server: string, uri = PAGE): string => uri.replace("ui://", `ui://metamcp/${server}/`);

test("two servers with the same page keep their own, in both keys of their tools", async () => {
  const folder = temp();
  folder.writeConfig({
    one: appServer(folder, "one", { tools: { show: PAGE, other: "ui://one/other" } }),
    two: appServer(folder, "two", { tools: { show: PAGE } }),
  });
  const client = aggregate(folder);
  await client.initialize();
  const pages = await pagesOf(client);
  expect(pages).toEqual({
    one__show: addressIn("one"),
    one__other: addressIn("one", "ui://one/other"),
    two__show: addressIn("two"),
  });
  // Without an address it is nobody's.
  expect(await read(client, PAGE)).toContain("not found");
  expect(await read(client, pages["one__show"] as string)).toBe("page of one");
  expect(await read(client, pages["two__show"] as string)).toBe("page of two");
  expect(readsOf(folder, "two")).toMatchObject([{ uri: PAGE }]);
  await client.close();
});

test.each(["aggregate", "meta", "metatools"])(
  "while the tools of a server are not known, no other one is asked for a page (%s)",
  async (surface) => {
    const folder = temp();
    const stranger = { tools: {}, lists: [PAGE], templates: ["ui://{+path}"] };
    folder.writeConfig({
      stranger: appServer(folder, "stranger", stranger),
      weather: { command: folder.path("missing") },
    });
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize(HOST);
    expect(await read(client, addressIn("stranger"))).toBe("page of stranger");
    expect(await read(client, PAGE)).toMatch(/not found|not known/);
    await client.request("resources/subscribe", { uri: PAGE });
    const ref = { type: "ref/resource", uri: PAGE };
    await client.request("completion/complete", { ref, argument: { name: "path", value: "" } });
    const asked = folder.journal("stranger.log").events("message");
    expect(asked.filter(({ uri }) => uri === PAGE)).toHaveLength(1);
    expect(asked.filter(({ method }) => method === "completion/complete")).toEqual([]);
    await client.close();
  },
);

test.each(["aggregate", "meta", "metatools"])(
  "a page whose tool the client does not see is not asked of another server (%s)",
  async (surface) => {
    const folder = temp();
    const [denied, off] = ["ui://denied/page", "ui://off/page"];
    const tools = { show: PAGE, other: "ui://weather/other", denied, off };
    folder.writeConfig(
      {
        stranger: appServer(folder, "stranger", { tools: {}, lists: [PAGE, denied, off] }),
        weather: { ...appServer(folder, "weather", { tools, forApps: ["show"] }), tools: { deny: ["off"] } },
      },
      { middleware: [{ use: "filter", deny: ["weather:denied"] }] },
    );
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize();
    const all = surface === "meta" ? "mcp_discover" : "list_tools";
    if (surface !== "aggregate") await client.tool(all, {});
    for (const uri of Object.values(tools))
      expect([uri, await read(client, uri)]).toEqual([uri, "page of weather"]);
    expect(readsOf(folder, "stranger")).toEqual([]);
    await client.close();
  },
);

test.each(["aggregate", "meta", "metatools"])(
  "the address of a server that is hidden or gone leads to no other, with a template or a link (%s)",
  async (surface) => {
    const folder = temp();
    const addresses = ["weather", "gone", "Weather"]
      .map((server) => addressIn(server))
      .concat("ui://METAMCP/weather/dashboard/main", "ui://metamcp/weather", "ui://metamcp//x")
      .concat("metamcp://server/weather/file:///x", "metamcp://server/gone/file:///x");
    const templates = ["ui://metamcp/{+path}", "{+any}"];
    folder.writeConfig(
      {
        stranger: appServer(folder, "stranger", { tools: { link: PAGE }, templates, links: addresses }),
        weather: appServer(folder, "weather", { tools: { show: PAGE } }),
      },
      { middleware: [{ use: "filter", deny: ["weather:*"] }] },
    );
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize(HOST);
    const call = {
      aggregate: () => client.tool("stranger__link", {}),
      meta: () => client.tool("mcp_call", { server: "stranger", tool: "link" }),
      metatools: () => client.tool("run_tool", { tool_id: "stranger:link" }),
    };
    await call[surface as keyof typeof call]();
    for (const uri of addresses) {
      expect([uri, await read(client, uri)]).toEqual([
        uri,
        expect.stringMatching(/not found|not known|no server/i),
      ]);
      for (const method of ["resources/subscribe", "resources/unsubscribe"])
        await client.request(method, { uri });
    }
    const asked = folder.journal("stranger.log").events("message");
    expect(asked.filter(({ method }) => /resources\/(read|.*subscribe)/.test(String(method)))).toEqual([]);
    await client.close();
  },
);

/** Two servers with the same page and an equal tool for their apps. */
function twoApps(): Temp {
  const folder = temp();
  const app = { tools: { show: PAGE, refresh: PAGE }, forApps: ["refresh"] };
  folder.writeConfig({
    one: appServer(folder, "one", { ...app, tools: { ...app.tools, only_one: PAGE } }),
    two: appServer(folder, "two", app),
  });
  return folder;
}

test("an app calls the tools of its server by their bare names, and is refused those of another", async () => {
  const folder = twoApps();
  const client = aggregate(folder);
  await client.initialize(HOST);
  const pages = await pagesOf(client);
  expect(Object.keys(pages)).toContain("two__refresh");
  const refusalOf = async (name: string) => (await client.request("tools/call", { name })).error;
  expect(await refusalOf("refresh")).toMatchObject({ code: -32602 });
  expect(await read(client, pages["two__show"] as string)).toBe("page of two");
  await client.tool("refresh", {});
  expect(callsOf(folder, "two")).toEqual(["refresh"]);
  expect(await refusalOf("only_one")).toMatchObject({ code: -32602 });
  expect(callsOf(folder, "one")).toEqual([]);
  // Once pages of both are drawn, nothing says whose app it is that calls.
  expect(await read(client, pages["one__show"] as string)).toBe("page of one");
  expect(await refusalOf("refresh")).toMatchObject({
    code: -32602,
    message: expect.stringContaining("one, two"),
  });
  await client.tool("only_one", {});
  expect([callsOf(folder, "one"), callsOf(folder, "two")]).toEqual([["only_one"], ["refresh"]]);
  await client.close();
});

test("a listed name does not take what an app means, and only an app calls a tool for apps", async () => {
  const folder = temp();
  const weather = { tools: { show: PAGE, refresh: PAGE }, forApps: ["refresh"] };
  const bare = { tools: { refresh: "ui://bare/page" } };
  const pinned = ["weather:refresh", "bare:refresh"];
  folder.writeConfig(
    {
      weather: appServer(folder, "weather", weather),
      bare: { ...appServer(folder, "bare", bare), prefix: "none" },
    },
    { pinned },
  );
  for (const surface of ["aggregate", "meta"]) {
    const client = gateway(folder, { flags: ["--surface", surface] });
    await client.initialize(HOST);
    await client.request("tools/list");
    const refusalOf = async (name: string) => (await client.request("tools/call", { name })).error?.message;
    expect(await refusalOf("weather__refresh")).toContain("Only the app of weather");
    expect(await refusalOf("refresh")).toBeUndefined();
    expect(await read(client, addressIn("weather"))).toBe("page of weather");
    expect(await refusalOf("refresh")).toContain("bare, weather");
    expect(await refusalOf("weather__refresh")).toBeUndefined();
    await client.close();
  }
  expect([callsOf(folder, "weather"), callsOf(folder, "bare")]).toEqual([
    ["refresh", "refresh"],
    ["refresh", "refresh"],
  ]);
});

test("a server that has no such tool does not stop a tool without a prefix, also if its rules allow few or it is gone", async () => {
  const folder = temp();
  const weather = appServer(folder, "weather", {
    tools: { show: PAGE, refresh: PAGE },
    forApps: ["refresh"],
  });
  const ruled = { ...weather, tools: { allow: ["show"] } };
  const tools = { search: "ui://bare/page", refresh: "ui://bare/page" };
  const bare = { ...appServer(folder, "bare", { tools }), prefix: "none" };
  folder.writeConfig({ weather: ruled, bare });
  const client = aggregate(folder);
  await client.initialize(HOST);
  await client.request("tools/list");
  expect(await read(client, addressIn("weather"))).toBe("page of weather");
  const refusalOf = async (name: string) => (await client.request("tools/call", { name })).error?.message;
  expect(await refusalOf("search")).toBeUndefined();
  // The app of weather may mean its own tool, which the rules hide.
  expect(await refusalOf("refresh")).toContain("bare, weather");
  folder.writeConfig({ bare });
  await until(async () => (await names(client)).join() === "search,refresh");
  expect(await refusalOf("search")).toBeUndefined();
  expect(await refusalOf("show")).toContain("Unknown tool");
  expect(callsOf(folder, "bare")).toEqual(["search", "search"]);
  await client.close();
});

test("a page that was used before the tools of its server were known counts too", async () => {
  const folder = twoApps();
  const client = aggregate(folder);
  await client.initialize(HOST);
  expect(await read(client, addressIn("one"))).toBe("page of one");
  expect(await read(client, addressIn("two"))).toBe("page of two");
  const { error } = await client.request("tools/call", { name: "refresh" });
  expect(error?.message).toContain("two, one");
  expect([callsOf(folder, "one"), callsOf(folder, "two")]).toEqual([[], []]);
  await client.close();
});

test("tools for apps are hidden from a client that draws no pages", async () => {
  const folder = twoApps();
  const client = aggregate(folder);
  await client.initialize();
  expect(Object.keys(await pagesOf(client))).toEqual(["one__show", "one__only_one", "two__show"]);
  expect((await client.request("tools/call", { name: "two__refresh" })).error).toMatchObject({
    code: -32602,
  });
  expect(callsOf(folder, "two")).toEqual([]);
  await client.close();
});

test.each(["meta", "metatools"] as const)("a host draws the page of a result on %s", async (surface) => {
  const folder = twoApps();
  const client = gateway(folder, { flags: ["--surface", surface] });
  await client.initialize(HOST);
  const run = (server: string, tool: string) =>
    surface === "meta"
      ? client.tool("mcp_call", { server, tool })
      : client.tool("run_tool", { tool_id: `${server}:${tool}` });
  const { _meta } = (await run("two", "show")) as unknown as {
    _meta: { ui: { resourceUri: string }; "ui/resourceUri": string };
  };
  expect(_meta.ui.resourceUri).toBe("ui://metamcp/two/dashboard/main");
  expect(_meta["ui/resourceUri"]).toBe(_meta.ui.resourceUri);
  expect(await read(client, _meta.ui.resourceUri)).toBe("page of two");
  await client.tool("refresh", {});
  expect(callsOf(folder, "two")).toEqual(["show", "refresh"]);
  expect(failureOf(await run("two", "refresh"))).toMatchObject({ code: "tool_not_found" });
  const found = surface === "meta" ? ["mcp_discover", { server: "two" }] : ["list_tools", {}];
  expect(JSON.stringify(await client.tool(found[0] as string, found[1] as object))).not.toContain("refresh");
  await client.close();
});
