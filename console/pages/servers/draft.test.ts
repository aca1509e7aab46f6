import { expect, test } from "vitest";
import type { Server } from "../../api/types.ts";
import { changedFields, draftOf, plainSecretIn, withField } from "./draft.ts";

const SERVER = {
  uuid: "u",
  name: "github",
  description: "",
  command: "npx",
  args: ["-y", "server"],
  env: { TOKEN: "********", LEVEL: "********" },
  disabled: false,
  labels: [],
  credentials: "shared",
  instances: 1,
  middleware: [],
  managedBy: "api",
  revision: 3,
  createdAt: "2030-01-01T00:00:00.000Z",
  updatedAt: "2030-01-01T00:00:00.000Z",
  status: { state: "idle", connected: false, toolCount: 0 },
} as const satisfies Server;

test("draftOf omits read-only fields and fields with their default value", () => {
  expect(draftOf(SERVER)).toEqual({
    name: "github",
    command: "npx",
    args: ["-y", "server"],
    env: SERVER.env,
  });
  expect(draftOf({ ...SERVER, instances: 2, labels: ["work"] })).toMatchObject({
    instances: 2,
    labels: ["work"],
  });
});

test("changedFields contains the fields that differ, and undefined for removed ones", () => {
  const before = draftOf(SERVER);
  expect(changedFields(before, structuredClone(before))).toEqual({});
  const { args: _, ...rest } = before;
  expect(changedFields(before, { ...rest, command: "node" })).toEqual({ command: "node", args: undefined });
});

test("withField removes a field with an empty or the default value", () => {
  expect(withField({ a: 1, b: 2 }, "a", "")).toEqual({ b: 2 });
  expect(withField({ instances: 2 }, "instances", 1)).toEqual({});
  expect(withField({ a: 1 }, "b", [])).toEqual({ a: 1 });
  expect(withField({ a: 1 }, "b", {})).toEqual({ a: 1 });
  expect(Object.keys(withField({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
});

test("plainSecretIn finds secrets in arguments and addresses", () => {
  expect(plainSecretIn({ args: ["--api-key", "abc"] })).toBe("--api-key");
  expect(plainSecretIn({ args: ["--token=abcdef123"] })).toBe("--token=abcdef123");
  expect(plainSecretIn({ url: "https://a.example.org/mcp?token=abcdef123" })).toContain("token");
  for (const draft of [
    { args: ["--api-key", `\${KEY}`] },
    { args: [`--token=\${TOKEN}`] },
    { args: ["--keyboard", "de", "--monkey", "x"] },
    { args: ["--token"] },
    { url: "https://a.example.org/tokens" },
    {},
  ])
    expect(plainSecretIn(draft)).toBeUndefined();
});
