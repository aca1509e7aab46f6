import { expect, test } from "vitest";
import { create, patch } from "./changes.ts";
import { compile } from "./compile.ts";
import { contextAt } from "./context.fixture.ts";
import { NO_OBJECTS, type Objects } from "./objects.ts";

const context = contextAt(1);
const place = { entryContext: { path: "/home/c", folder: "/home", env: {} }, vault: context.vault };

function setSandbox(objects: Objects, sandbox: unknown): Objects {
  return patch(objects, { kind: "settings", reference: "" }, { sandbox }, context).objects;
}

test("the settings confine servers without a sandbox, and no server goes beyond the floor", () => {
  let objects = create(NO_OBJECTS, "server", { name: "plain", command: "x" }, context).objects;
  objects = create(objects, "server", { name: "open", command: "x", sandbox: false }, context).objects;
  objects = create(objects, "server", { name: "far", url: "https://far.example/mcp" }, context).objects;
  const before = compile(objects, place).compiled;
  const found = (sandbox: unknown) => {
    const { compiled } = compile(setSandbox(objects, sandbox), place, before);
    return Object.fromEntries(
      [...compiled.servers.values()].map(({ object, spec, reason }) => [
        object.name,
        reason ?? (spec && "sandbox" in spec ? spec.sandbox?.network : undefined),
      ]),
    );
  };
  expect(found({})).toEqual({ plain: undefined, open: undefined, far: undefined });
  expect(found({ default: true })).toEqual({ plain: "all", open: undefined, far: undefined });
  expect(found({ floor: { network: ["*.example"] } })).toEqual({
    plain: ["*.example"],
    open: expect.stringContaining('more than an administrator allows any server ("sandbox": false)'),
    far: undefined,
  });
  expect(found({ default: { network: "none" }, floor: true })).toMatchObject({ plain: "none" });
});

test.each([
  [{ floor: { network: ["https://a.example"] } }, "/sandbox/floor/network/0"],
  [{ default: { write: ["/"] } }, "/sandbox/default/write/0"],
  [{ floor: { reads: [] } }, "/sandbox/floor"],
  [{ flor: true }, "/sandbox"],
])("settings with %j are refused", (sandbox, path) => {
  let refused: unknown;
  try {
    setSandbox(NO_OBJECTS, sandbox);
  } catch (error) {
    refused = error;
  }
  expect(JSON.stringify((refused as { problems?: unknown }).problems ?? refused)).toContain(path);
});
