import { describe, expect, test } from "vitest";
import { checkConfig } from "../config/check.ts";
import { create, patch, remove } from "./changes.ts";
import { compile, namespacesWith } from "./compile.ts";
import { contextAt } from "./context.fixture.ts";
import { find } from "./names.ts";
import { allObjects, NO_OBJECTS, type Objects } from "./objects.ts";
import { readObjects, writesBetween } from "./stored.ts";

const context = contextAt(1);
const place = {
  entryContext: { path: "/home/c", folder: "/home", env: { HOST: "h" } },
  vault: context.vault,
};

function setUp() {
  let objects: Objects = NO_OBJECTS;
  for (const name of ["a", "b", "c"])
    objects = create(objects, "server", { name, command: "x" }, context).objects;
  const namespaces = { ab: ["a", "b"], c: ["c"] };
  for (const [name, servers] of Object.entries(namespaces)) {
    const entries = servers.map((server) => ({ server }));
    objects = create(objects, "namespace", { name, servers: entries }, context).objects;
  }
  for (const name of ["ab", "c"])
    objects = create(objects, "endpoint", { name, namespaces: [name] }, context).objects;
  const uuid = (kind: "server" | "namespace" | "endpoint", name: string) =>
    find(objects[kind], name)?.uuid ?? "";
  return { objects, uuid, compiled: compile(objects, place).compiled };
}

describe("compiling", () => {
  test("gives a server the same spec as the same entry in a config file", () => {
    const entry = {
      command: "~/bin/x",
      args: ["--host", `\${HOST}`],
      env: { TOKEN: "s", HOST: `\${HOST}`, BOTH: `\${HOST}:\${MISSING:-1}`, ME: `\${user.email}` },
      lifecycle: { mode: "keep-alive", idleTimeoutMs: "5m" },
      timeoutMs: "30s",
      tools: { deny: ["x*"] },
      isolation: "session",
      examples: { t: [{ a: 1 }] },
    };
    const { object, objects } = create(NO_OBJECTS, "server", { name: "x", ...entry }, context);
    const file = checkConfig({ mcpServers: { x: entry } }, { ...place.entryContext, overrides: {} });
    expect(file.servers.get("x")).toBeDefined();
    expect(compile(objects, place).compiled.servers.get(object.uuid)?.spec).toEqual({
      ...file.servers.get("x"),
      perAccount: "values",
    });
  });

  test("keeps an unusable server with the reason", () => {
    const { object, objects } = create(NO_OBJECTS, "server", { name: "x", command: `\${NOT_SET}` }, context);
    const { servers } = compile(objects, place).compiled;
    expect(servers.get(object.uuid)).toMatchObject({ spec: undefined, disabled: false });
    expect(servers.get(object.uuid)?.reason).toContain("NOT_SET");
  });

  test("after a change compiles only the affected objects", () => {
    const { objects, uuid, compiled } = setUp();
    const after = (kind: "server" | "namespace" | "endpoint", name: string, change: object) =>
      compile(patch(objects, { kind, reference: name }, change, contextAt(2)).objects, place, compiled);
    const [a, ab, end] = [uuid("server", "a"), uuid("namespace", "ab"), uuid("endpoint", "ab")];
    expect(compile(objects, place, compiled).work).toEqual({ servers: [], namespaces: [], endpoints: [] });
    expect(after("server", "a", { description: "d" }).work).toEqual({
      servers: [a],
      namespaces: [],
      endpoints: [],
    });
    expect(after("server", "a", { args: ["x"] }).work).toEqual({
      servers: [a],
      namespaces: [],
      endpoints: [],
    });
    const all = { servers: [a], namespaces: [ab], endpoints: [end] };
    for (const change of [{ name: "z" }, { prefix: "none" }, { disabled: true }])
      expect(after("server", "a", change).work).toEqual(all);
    expect(after("namespace", "ab", { newTools: "disabled" }).work).toEqual({ ...all, servers: [] });
    const surface = after("endpoint", "ab", { surface: "aggregate" });
    expect(surface.work).toEqual({ servers: [], namespaces: [], endpoints: [end] });
    expect(surface.compiled.servers).toBe(compiled.servers);
    expect(surface.compiled.paths.get("c")).toBe(compiled.paths.get("c"));
    expect(after("endpoint", "ab", { disabled: true }).compiled.paths.has("ab")).toBe(false);
  });

  test("reuses everything if the same objects are read from the store again", () => {
    const { objects, compiled } = setUp();
    const kept = JSON.parse(JSON.stringify(allObjects(objects))).map((object: object) => ({
      ...object,
      nameKey: "x",
    }));
    const none = { servers: [], namespaces: [], endpoints: [] };
    expect(
      compile(readObjects([...kept, { ...kept[0], kind: "later" }], objects), place, compiled).work,
    ).toEqual(none);
    expect(readObjects(kept)).toEqual(objects);
  });

  test("the writes to the store contain only changed objects", () => {
    const { objects, uuid } = setUp();
    const renamed = patch(
      objects,
      { kind: "server", reference: "a" },
      { name: "Z\u0061\u0308" },
      contextAt(2),
    ).objects;
    const { objects: after } = remove(renamed, { kind: "server", reference: "c", force: true }, contextAt(3));
    const { put, remove: gone } = writesBetween(objects, after);
    expect(put.map(({ kind, name, nameKey }) => [kind, name, nameKey])).toEqual([
      ["server", "Z\u0061\u0308", "z\u00e4"],
      ["namespace", "c", "c"],
    ]);
    expect(put[0]).not.toHaveProperty("revision");
    expect(gone).toEqual([uuid("server", "c")]);
    expect(writesBetween(objects, objects)).toEqual({ put: [], remove: [] });
  });

  test("finds the namespaces of a server, and matches paths exactly", () => {
    const { uuid, compiled } = setUp();
    expect(namespacesWith(compiled, uuid("server", "b"))).toEqual([uuid("namespace", "ab")]);
    expect(compiled.paths.has("AB")).toBe(false);
  });
});
