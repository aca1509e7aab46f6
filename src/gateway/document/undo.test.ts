import { describe, expect, test } from "vitest";
import { atOnce } from "../../kernel/steps.ts";
import { contextAt } from "../context.fixture.ts";
import { NO_OBJECTS, type Objects, objectsOf, type StoredObject } from "../objects.ts";
import { undoing } from "./undo.ts";

const SERVER = "11111111-1111-4111-8111-111111111111";
const SPACE = "22222222-2222-4222-8222-222222222222";

function stored(
  kind: "server" | "namespace" | "settings",
  uuid: string,
  name: string,
  spec: object,
): StoredObject {
  const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };
  return { kind, uuid, name, spec, managedBy: "api", revision: 1, ...times } as unknown as StoredObject;
}

const off = (...tools: readonly string[]) => tools.map((tool) => ({ server: SERVER, tool, disabled: true }));

function space(tools: readonly object[], more: object = {}): Objects {
  const server = stored("server", SERVER, "github", { type: "STDIO", command: "x" });
  const spec = { servers: [{ server: SERVER }], tools, newTools: "enabled", middleware: [], ...more };
  return objectsOf([server, stored("namespace", SPACE, "dev", spec)]);
}

function undone(now: Objects, before: Objects, after: Objects) {
  const { objects, changes } = atOnce(undoing(now, { before, after }, contextAt(9)));
  return { spec: objects.namespace.get(SPACE)?.spec, changes, objects };
}

describe("undoing one revision", () => {
  test("takes back only its own switches and leaves later ones", () => {
    const { spec } = undone(space(off("a", "b", "c")), space(off("a")), space(off("a", "b")));
    expect(spec?.tools).toEqual(off("a", "c"));
  });

  test("leaves later changes of other fields", () => {
    const now = space(off("b"), { description: "later" });
    const { spec } = undone(now, space([]), space(off("b")));
    expect(spec).toMatchObject({ tools: [], description: "later" });
  });

  test("says what stands in the way if a later revision changed the same value", () => {
    const [before, after, now] = ["one", "two", "three"].map((description) => space([], { description }));
    if (!before || !after || !now) throw new Error("three states");
    expect(() => undone(now, before, after)).toThrow(
      'cannot be undone alone: description of namespace "dev" was changed later',
    );
  });

  test("brings a deleted object back, and removes a created one", () => {
    const gone = objectsOf([...space([]).server.values()]);
    expect(undone(gone, space([]), gone).spec).toMatchObject({ newTools: "enabled" });
    expect(undone(space([]), gone, space([])).spec).toBeUndefined();
    expect(() => undone(gone, space([]), space(off("a")))).toThrow("was deleted later");
    expect(() => undone(space(off("a")), gone, space([]))).toThrow("was changed later");
  });

  test("does not overwrite later changes of an object that is back already", () => {
    const gone = objectsOf([...space([]).server.values()]);
    expect(undone(space([]), space([]), gone).changes).toEqual([]);
    expect(() => undone(space(off("a")), space([]), gone)).toThrow('namespace "dev" was changed later');
  });

  test("does not name what is in the settings", () => {
    const [before, after, now] = ["1", "2", "3"].map((sealed) =>
      objectsOf([stored("settings", SPACE, "settings", { secrets: { BANK: { sealed } } })]),
    );
    if (!before || !after || !now) throw new Error("three states");
    expect(() => undone(now, before, after)).toThrow(
      "undone alone: secrets of the settings was changed later.",
    );
  });

  test("merges lists of texts in their order, but not the arguments of a command", () => {
    const lists = (field: string, ...all: readonly (readonly string[])[]) =>
      all.map((list) => space([], { [field]: list })) as [Objects, Objects, Objects];
    const { spec } = undone(...lists("texts", ["b", "9", "8"], ["constructor", "b", "9"], ["b", "9"]));
    expect(spec).toMatchObject({ texts: ["b", "9", "8", "constructor"] });
    const args = lists("args", ["run", "-v", "x"], ["run", "-d", "x"], ["run", "x"]);
    expect(() => undone(...args)).toThrow("args of namespace");
  });

  test("changes nothing if the values are back already", () => {
    expect(undone(space([]), space([]), space(off("a"))).changes).toEqual([]);
    expect(
      atOnce(undoing(NO_OBJECTS, { before: NO_OBJECTS, after: NO_OBJECTS }, contextAt(9))).changes,
    ).toEqual([]);
  });
});
