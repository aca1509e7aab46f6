import { expect, test } from "vitest";
import { mergePatch } from "./merge-patch.ts";

test("mergePatch contains changed fields, and null for removed ones", () => {
  const before = { name: "github", command: "npx", args: ["-y"], env: { TOKEN: "********", LEVEL: "1" } };
  expect(mergePatch(before, { ...before })).toBeUndefined();
  const after = { name: "github", command: "node", args: undefined, env: { TOKEN: "********", NEW: "1" } };
  expect(mergePatch(before, after)).toEqual({
    command: "node",
    args: null,
    env: { LEVEL: null, NEW: "1" },
  });
});

test("mergePatch removes the last member of an object", () => {
  expect(mergePatch({ limits: { sessions: 5 } }, { limits: {} })).toEqual({ limits: { sessions: null } });
});
