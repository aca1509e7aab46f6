import { expect, test } from "vitest";
import { create, patch, remove } from "../gateway/changes.ts";
import { contextAt } from "../gateway/context.fixture.ts";
import { NO_OBJECTS, type ObjectKind, type Objects } from "../gateway/objects.ts";
import { loadValidator } from "../gateway/schema-check.ts";
import { BUILT_IN } from "../middleware/built-in.ts";
import { LayerRegistry } from "../middleware/registry.ts";
import { neededActions } from "./needed-actions.ts";

const registry = new LayerRegistry(BUILT_IN, await loadValidator());
const context = contextAt(1);
const facts = {
  annotationsOf: (_server: string, tool: string) => (tool === "look" ? { readOnlyHint: true } : undefined),
  guards: (use: string) => registry.guards(use),
};

const withObject = (objects: Objects, kind: ObjectKind, input: object): Objects =>
  create(objects, kind as never, input, context).objects;
const base = [
  ["server", { name: "git", command: "git-mcp" }],
  ["namespace", { name: "dev", servers: [{ server: "git" }] }],
  ["endpoint", { name: "team", namespaces: ["dev"] }],
].reduce<Objects>((all, [kind, input]) => withObject(all, kind as ObjectKind, input as object), NO_OBJECTS);

const uuidOf = (kind: "server" | "namespace" | "endpoint"): string => [...base[kind].keys()][0] as string;
const patched = (
  kind: "server" | "namespace" | "endpoint",
  fields: object,
  objects: Objects = base,
): Objects => patch(objects, { kind, reference: uuidOf(kind) }, fields, context).objects;
const actions = (before: Objects, after: Objects): readonly string[] =>
  neededActions(before, after, facts).map(({ action }) => action);

test("editors may change exactly these layers: decide about each new one", () => {
  const open = [...BUILT_IN.keys()].filter((use) => {
    const added = patched("endpoint", { middleware: [{ use }] });
    return !actions(base, added).includes("layers.guarded");
  });
  expect(open).toEqual(["rate-limit", "concurrency", "cache", "timeout", "validate", "ask", "hedge"]);
});

test("adding, removing, changing and reordering guarding layers needs a right, in every kind of object", () => {
  const two = [{ use: "policy", rules: [] }, { use: "audit" }];
  for (const kind of ["server", "namespace", "endpoint"] as const) {
    const guarded = patched(kind, { middleware: two });
    for (const middleware of [[], [two[0]], [two[1], two[0]], [{ use: "policy", default: "allow" }, two[1]]])
      expect(actions(guarded, patched(kind, { middleware }, guarded)), kind).toContain("layers.guarded");
    const beside = { middleware: [{ use: "timeout", timeoutMs: 1 }, ...two] };
    expect(actions(guarded, patched(kind, beside, guarded)), kind).not.toContain("layers.guarded");
  }
});

test("custom and unknown layers count as guarding", () => {
  for (const use of ["./mine.mjs", "not-known-here"])
    expect(actions(base, patched("endpoint", { middleware: [{ use }] }))).toContain("layers.guarded");
});

test("the refusal names the layers", () => {
  const [, layers] = neededActions(base, patched("endpoint", { middleware: [{ use: "flow" }] }), facts);
  expect(layers?.what).toBe('change layers that guard access or data (flow), in the endpoint "team"');
});

test("of a server, only switching it on and off needs the lesser right", () => {
  expect(actions(base, patched("server", { disabled: true }))).toEqual(["servers.switch"]);
  expect(actions(base, patched("server", { disabled: true, description: "x" }))).toEqual(["servers.write"]);
  expect(actions(base, withObject(base, "server", { name: "more", command: "x" }))).toEqual([
    "servers.write",
  ]);
});

test("access of an endpoint needs a right of its own, unless a new endpoint has the default", () => {
  expect(actions(base, withObject(base, "endpoint", { name: "new", namespaces: ["dev"] }))).toEqual([
    "endpoints.write",
  ]);
  const open = { name: "new", namespaces: ["dev"], access: { public: true } };
  expect(actions(base, withObject(base, "endpoint", open))).toEqual(["endpoints.write", "access.write"]);
  const narrowed = patched("endpoint", { access: { allow: { groups: ["a"] } } });
  expect(actions(base, narrowed)).toEqual(["endpoints.write", "access.write"]);
});

test("a deleted object needs the right to write it, and for its guarding layers", () => {
  const guarded = patched("namespace", { middleware: [{ use: "filter", allow: [] }] });
  const without = remove(
    guarded,
    { kind: "namespace", reference: uuidOf("namespace"), force: true },
    context,
  );
  expect(actions(guarded, without.objects)).toEqual(
    expect.arrayContaining(["namespaces.write", "layers.guarded"]),
  );
});

test("annotations may be made stricter, or as the server says, but not looser", () => {
  const overridden = (tool: string, annotations: object) =>
    actions(base, patched("namespace", { tools: [{ server: "git", tool, annotations }] }));
  expect(overridden("push", { readOnlyHint: true })).toContain("annotations.loosen");
  expect(overridden("push", { destructiveHint: false })).toContain("annotations.loosen");
  expect(overridden("push", { destructiveHint: true, readOnlyHint: false })).toEqual(["namespaces.write"]);
  expect(overridden("look", { readOnlyHint: true })).toEqual(["namespaces.write"]);
});
