import { describe, expect, test } from "vitest";
import type { Listing } from "../../catalog/catalog.ts";
import { readTool } from "../../catalog/read-tool.ts";
import { repeatOf } from "../../catalog/tool.ts";
import { asRaw, fromRaw, toRaw } from "../../kernel/raw.ts";
import { create, patch } from "../changes.ts";
import { type Compiled, compile } from "../compile.ts";
import { contextAt } from "../context.fixture.ts";
import { listingOfTools, toolOf } from "../listing.fixture.ts";
import { find } from "../names.ts";
import { NO_OBJECTS, type Objects } from "../objects.ts";
import { applyArguments, argumentsOf } from "./arguments.ts";
import { endpointRows, namespaceRows } from "./tool-rows.ts";
import { Views } from "./views.ts";

const context = contextAt(1);
const place = { entryContext: { path: "/c", folder: "/", env: {} }, vault: context.vault };

/** Creates and compiles servers with their tools, namespaces and endpoints. */
function setUp(
  servers: Readonly<Record<string, readonly string[] | undefined>>,
  namespaces: Readonly<Record<string, object>>,
  endpoints: Readonly<Record<string, readonly string[]>> = { all: Object.keys(namespaces) },
) {
  let objects: Objects = NO_OBJECTS;
  for (const name of Object.keys(servers))
    objects = create(objects, "server", { name, command: "x" }, context).objects;
  for (const [name, fields] of Object.entries(namespaces))
    objects = create(objects, "namespace", { name, ...fields }, context).objects;
  for (const [name, list] of Object.entries(endpoints))
    objects = create(objects, "endpoint", { name, namespaces: list }, context).objects;
  const listings = new Map<string, Listing>();
  for (const [name, tools] of Object.entries(servers)) {
    const uuid = find(objects.server, name)?.uuid ?? "";
    if (tools) listings.set(uuid, listingOfTools(uuid, tools));
  }
  const listingOf = (uuid: string) => listings.get(uuid);
  return { objects, listings, listingOf, compiled: compile(objects, place).compiled };
}

const endpointOf = (compiled: Compiled, name = "all") => {
  const endpoint = compiled.paths.get(name);
  if (!endpoint) throw new Error(`There is no endpoint ${name}.`);
  return endpoint;
};
const all = (...names: string[]) => ({ servers: names.map((server) => ({ server })) });

function viewOf(...parts: Parameters<typeof setUp>) {
  const { compiled, listingOf } = setUp(...parts);
  return new Views().ofEndpoint(endpointOf(compiled), listingOf);
}

test("pages of tools that are switched off stay those of their server", () => {
  const tools = [{ server: "git", tool: "show", disabled: true }];
  const { compiled, listings } = setUp({ git: ["log"] }, { dev: { ...all("git"), tools } });
  const page = { _meta: { ui: { resourceUri: "ui://git/show" } } };
  const listingOf = (uuid: string) => {
    const listing = listings.get(uuid) as Listing;
    return {
      ...listing,
      tools: [...listing.tools, toolOf(uuid, "show", page)],
      hidden: [toolOf(uuid, "old")],
    };
  };
  const { listing } = new Views().ofEndpoint(endpointOf(compiled), listingOf).servers.get("git") ?? {};
  expect(listing?.tools.map(({ name }) => name)).toEqual(["log"]);
  expect(listing?.hidden?.map(({ name }) => name)).toEqual(["old", "show"]);
});

test("a server is empty if all its tools are switched off and it has no prompts, resources and skills", () => {
  const nothing = { prompts: [], resources: [], templates: [], skills: [] };
  const isEmpty = (items: object, ...off: string[]): boolean | undefined => {
    const tools = off.map((tool) => ({ server: "git", tool, disabled: true }));
    const { compiled, listings } = setUp({ git: ["log", "show"] }, { dev: { ...all("git"), tools } });
    const listingOf = (uuid: string) => ({ ...(listings.get(uuid) as Listing), ...items });
    return new Views().ofEndpoint(endpointOf(compiled), listingOf).servers.get("git")?.isEmpty;
  };
  expect(isEmpty(nothing, "log", "show")).toBe(true);
  expect(isEmpty(nothing, "log")).toBe(false);
  expect(isEmpty({ ...nothing, tools: [] }, "log", "show")).toBe(false);
  expect(isEmpty({ ...nothing, prompts: undefined }, "log", "show")).toBe(false);
  expect(isEmpty({ ...nothing, resources: [toolOf("git", "r")] }, "log", "show")).toBe(false);
});

describe("a tool in a namespace", () => {
  test("has only the name of its override, and keeps all other bytes", () => {
    const tools = [{ server: "git", tool: "log", name: "history" }];
    const view = viewOf({ git: ["log", "show"] }, { dev: { ...all("git"), tools } });
    expect(view.listings.get("git")?.tools.map(({ name }) => name)).toEqual(["history", "show"]);
    expect(view.resolve("git", "history")).toMatchObject({
      name: "log",
      own: { name: "log" },
      shown: { name: "history" },
    });
    expect(view.resolve("git", "log")).toBeUndefined();
    expect(view.resolve("git", "show")?.name).toBe("show");
    const own = view.resolve("git", "history")?.own?.definition.toString();
    expect(view.tool("git", "history")?.definition.toString()).toBe(own?.replace('"log"', '"history"'));
  });

  test("can swap names with another tool, and two servers can have the same tool name", () => {
    const tools = [
      { server: "git", tool: "a", name: "b" },
      { server: "git", tool: "b", name: "a" },
      { server: "docs", tool: "x", name: "a" },
    ];
    const view = viewOf({ git: ["a", "b"], docs: ["x"] }, { dev: { ...all("git", "docs"), tools } });
    expect(view.resolve("git", "a")?.name).toBe("b");
    expect(view.resolve("git", "b")?.name).toBe("a");
    expect(view.resolve("docs", "a")?.name).toBe("x");
  });

  test("that is disabled, or new with newTools disabled, cannot be reached under any name", () => {
    const tools = [
      { server: "git", tool: "log", name: "history", disabled: true },
      { server: "git", tool: "show" },
    ];
    const view = viewOf(
      { git: ["log", "show", "push"] },
      { dev: { ...all("git"), tools, newTools: "disabled" } },
    );
    expect([...view.publicNames.keys()]).toEqual(["git__show"]);
    for (const name of ["log", "history", "push"]) expect(view.resolve("git", name)).toBeUndefined();
  });

  test("whose name an override already uses is hidden with a reason", () => {
    const { objects, compiled, listingOf } = setUp(
      { git: ["log", "history"] },
      { dev: { ...all("git"), tools: [{ server: "git", tool: "log", name: "history" }] } },
    );
    const view = new Views().ofEndpoint(endpointOf(compiled), listingOf);
    expect(view.resolve("git", "history")?.name).toBe("log");
    expect([...view.publicNames.keys()]).toEqual(["git__history"]);
    const [namespace] = compiled.namespaces.values();
    const server = find(objects.server, "git")?.uuid;
    expect(namespaceRows(namespace as never, { compiled, listingOf })).toMatchObject([
      { server, tool: "log", name: "history", enabled: true, because: 'renamed in namespace "dev"' },
      {
        server,
        tool: "history",
        name: "history",
        enabled: false,
        because: 'the override of "log" in namespace "dev" has its name',
      },
    ]);
  });

  test("of a server without known tools can be called according to the rules", () => {
    const tools = [
      { server: "git", tool: "log", name: "history" },
      { server: "git", tool: "push", disabled: true },
    ];
    const view = viewOf({ git: undefined }, { dev: { ...all("git"), tools } });
    expect(view.listings.size).toBe(0);
    expect(view.resolve("git", "history")).toMatchObject({ name: "log", own: undefined });
    expect(view.resolve("git", "anything")?.name).toBe("anything");
    for (const name of ["log", "push"]) expect(view.resolve("git", name)).toBeUndefined();
  });

  test("has overridden title and annotations, and keeps the others", () => {
    const rule = { server: "git", tool: "log", title: "T", annotations: { readOnlyHint: true } };
    const { compiled, listings } = setUp({ git: ["log"] }, { dev: { ...all("git"), tools: [rule] } });
    const [uuid = ""] = listings.keys();
    const tool = toolOf(uuid, "log", { annotations: { destructiveHint: true, "x-own": 1 }, "x-big": 1 });
    const exact = readTool(
      uuid,
      asRaw(Buffer.from(tool.definition.toString().replace('"x-big":1', '"x-big": 12345678901234567890'))),
    );
    listings.set(uuid, { tools: [exact as never], source: "live", about: {} });
    const view = new Views().ofEndpoint(endpointOf(compiled), (server) => listings.get(server));
    const shown = view.tool("git", "log");
    expect(shown).toMatchObject({ title: "T", description: "does log" });
    expect(shown?.annotations).toEqual({ destructiveHint: true, readOnlyHint: true });
    expect(repeatOf(shown?.annotations ?? {})).toBe("safe");
    expect(shown?.definition.toString()).toContain('"x-big": 12345678901234567890');
    expect(shown?.definition.toString()).toContain('"x-own":1');
  });
});

describe("arguments that a namespace sets", () => {
  const rule = (args: object) => ({ server: "s", tool: "t", args }) as never;

  test("change the schema: defaults are not required, fixed arguments are removed", () => {
    const tools = [
      { server: "git", tool: "log", args: { a: { default: "x" }, b: { fixed: 1 }, c: { default: 2 } } },
    ];
    const schema = fromRaw(
      viewOf({ git: ["log"] }, { dev: { ...all("git"), tools } }).tool("git", "log")?.inputSchema as never,
    );
    expect(schema).toEqual({
      type: "object",
      properties: { a: { type: "string", default: "x" }, c: { default: 2 } },
    });
  });

  test("are added if they are missing, and all other bytes stay", () => {
    const set = argumentsOf(rule({ limit: { default: 10 }, repo: { fixed: { name: "r" } } }));
    const apply = (text: string) => applyArguments(asRaw(Buffer.from(text)), set).toString();
    expect(apply('{ "id": 12345678901234567890 }')).toBe(
      '{"limit":10,"repo":{"name":"r"}, "id": 12345678901234567890 }',
    );
    expect(apply('{"limit": null}')).toBe('{"repo":{"name":"r"},"limit": null}');
    expect(apply("{}")).toBe('{"limit":10,"repo":{"name":"r"}}');
    expect(apply('{"l\\u0069mit": 3}')).toBe('{"repo":{"name":"r"},"l\\u0069mit": 3}');
    const untouched = toRaw({ x: 1 });
    expect(applyArguments(untouched, argumentsOf(rule({})))).toBe(untouched);
    const given = toRaw({ limit: 1 });
    expect(applyArguments(given, argumentsOf(rule({ limit: { default: 2 } })))).toBe(given);
  });

  test("that are fixed are refused from the caller, even null", () => {
    const set = argumentsOf(rule({ repo: { fixed: "r" } }));
    for (const text of ['{"repo":"r"}', '{"repo":null}', '{"re\\u0070o":1}'])
      expect(() => applyArguments(asRaw(Buffer.from(text)), set)).toThrow(
        expect.objectContaining({ code: "validation_input", message: expect.stringContaining('"repo"') }),
      );
    expect(() => applyArguments(toRaw([1]), set)).toThrow(
      expect.objectContaining({ code: "validation_input" }),
    );
  });
});

describe("an endpoint", () => {
  test("with several namespaces shows all servers; the first namespace with a server decides, even if it disables it", () => {
    const namespaces = {
      one: {
        servers: [{ server: "a" }, { server: "b", disabled: true }],
        tools: [{ server: "a", tool: "x", disabled: true }],
      },
      two: all("a", "b", "c"),
    };
    const { compiled, listingOf } = setUp({ a: ["x", "y"], b: ["x"], c: ["z"] }, namespaces);
    const view = new Views().ofEndpoint(endpointOf(compiled), listingOf);
    expect([...view.publicNames.keys()]).toEqual(["a__y", "c__z"]);
    expect(view.resolve("b", "x")).toBeUndefined();
    const rows = endpointRows(endpointOf(compiled), { compiled, listingOf });
    expect(rows.map(({ tool, enabled, because }) => [tool, enabled, because])).toEqual([
      ["x", false, 'disabled in namespace "one"'],
      ["y", true, undefined],
      ["x", false, 'server "b" is disabled in namespace "one"'],
      ["z", true, undefined],
    ]);
  });

  test("reports rules for missing tools and servers that cannot be used", () => {
    const { objects, compiled, listingOf } = setUp(
      { a: ["x"], b: ["y"] },
      { one: { ...all("a", "b"), tools: [{ server: "a", tool: "gone", name: "z" }] } },
    );
    const rows = (now: Compiled, unreachable?: (server: string) => string | undefined) =>
      endpointRows(endpointOf(now), { compiled: now, listingOf, ...(unreachable ? { unreachable } : {}) });
    expect(rows(compiled)).toMatchObject([{ tool: "x" }, { tool: "gone", missing: true }, { tool: "y" }]);
    expect(rows(compiled, () => "it died")[2]).toMatchObject({ enabled: false, because: "it died" });
    const off = patch(objects, { kind: "server", reference: "b" }, { disabled: true }, context).objects;
    expect(rows(compile(off, place).compiled)[2]).toMatchObject({
      enabled: false,
      because: 'server "b" cannot be used: it is disabled',
    });
  });

  test("names tools by prefix (none or a text), and by server name in case of a collision", () => {
    const names = (prefixes: Readonly<Record<string, string>>, tools: Readonly<Record<string, string[]>>) => {
      const servers = Object.entries(prefixes).map(([server, prefix]) => ({ server, prefix }));
      return [...viewOf(tools, { n: { servers } }).publicNames.keys()];
    };
    expect(names({ a: "none", b: "crm" }, { a: ["x"], b: ["x"] })).toEqual(["x", "crm__x"]);
    expect(names({ a: "crm", b: "crm" }, { a: ["x", "y"], b: ["x"] })).toEqual(["a__x", "crm__y", "b__x"]);
    expect(names({ a: "b", b: "server" }, { a: ["x"], b: ["x"] })).toEqual(["a__x", "b__x"]);
    expect(names({ a: "none", b: "crm" }, { a: ["crm__x"], b: ["x"] })).toEqual(["a__crm__x", "b__x"]);
    const [long] = names({ a: "crm" }, { a: ["t".repeat(60)] });
    expect(long).toMatch(/^crm__t{50}_[0-9a-f]{8}$/);
  });
});

describe("views", () => {
  const tools = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

  test("are shared by endpoints and namespaces with the same content, and switching a tool creates one new server view", () => {
    const endpoints = Object.fromEntries(tools(100).map((name) => [name, ["n"]]));
    const { objects, compiled, listingOf } = setUp(
      { a: tools(50), b: tools(50) },
      { n: all("a", "b"), m: all("a", "b") },
      endpoints,
    );
    const views = new Views();
    const shown = new Set(
      [...compiled.paths.values()].map((endpoint) => views.ofEndpoint(endpoint, listingOf)),
    );
    for (const namespace of compiled.namespaces.values()) shown.add(views.ofNamespace(namespace, listingOf));
    expect(shown.size).toBe(1);
    expect(views.counts).toEqual({ servers: 2, views: 1 });

    const switched = { tools: [{ server: "a", tool: "t1", disabled: true }] };
    const next = patch(objects, { kind: "namespace", reference: "n" }, switched, context).objects;
    const again = compile(next, place, compiled);
    expect(again.work).toMatchObject({ servers: [], namespaces: [find(next.namespace, "n")?.uuid] });
    for (const endpoint of again.compiled.paths.values()) shown.add(views.ofEndpoint(endpoint, listingOf));
    expect(shown.size).toBe(2);
    expect(views.counts).toEqual({ servers: 3, views: 2 });
    const [before, after] = [...shown];
    expect(after?.listings.get("b")).toBe(before?.listings.get("b"));
    expect(after?.tool("a", "t2")).toBe(before?.tool("a", "t2"));
    expect(after?.version).not.toBe(before?.version);
  });

  test("reuse the objects of the child if they already have the public name", () => {
    const { compiled } = setUp({ a: [] }, { n: all("a") });
    const listing = listingOfTools("a", ["x"]);
    const view = new Views().ofEndpoint(endpointOf(compiled), () => listing);
    expect(view.tool("a", "x")).toBe(listing.tools[0]);
  });

  test("reuse a rewritten tool if its rule is unchanged", () => {
    const rules = [
      { server: "a", tool: "t1", name: "one", args: { a: { fixed: 1 } } },
      { server: "a", tool: "t2", disabled: true },
    ];
    const { objects, compiled, listingOf } = setUp({ a: tools(3) }, { n: { ...all("a"), tools: rules } });
    const views = new Views();
    const before = views.ofEndpoint(endpointOf(compiled), listingOf);
    const next = patch(
      objects,
      { kind: "namespace", reference: "n" },
      { tools: rules.slice(0, 1) },
      context,
    ).objects;
    const after = views.ofEndpoint(endpointOf(compile(next, place, compiled).compiled), listingOf);
    expect(after.tool("a", "one")).toBe(before.tool("a", "one"));
    expect(after.tool("a", "t2")).toBeDefined();
  });
});
