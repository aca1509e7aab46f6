import { describe, expect, test } from "vitest";
import { diff, sameConfig } from "./diff.ts";
import { dialOf, identityOf, sameDial } from "./identity.ts";
import { parseConfig } from "./load.ts";
import type { Config, ServerSpec } from "./spec.ts";

async function config(servers: object, more: object = {}, path = "/p/.mcp.json"): Promise<Config> {
  return await parseConfig(path, JSON.stringify({ mcpServers: servers, ...more }), { env: {} });
}

async function spec(entry: object, path?: string): Promise<ServerSpec> {
  const found = (await config({ a: entry }, {}, path)).servers.get("a");
  if (!found) throw new Error("the entry of the test is broken");
  return found;
}

const npx = {
  command: "npx",
  args: ["-y", "@scope/server@1.2.3"],
  env: { API_KEY: "k", REGION: "eu" },
  cwd: "/w",
};
const web = { url: "https://example.com/mcp", headers: { Authorization: "Bearer t" } };

// Entry, changed entry, is it another server?, is it reached another way?
describe.each<[string, object, object, { other: boolean; redial: boolean }]>([
  ["a copy", npx, { ...npx }, { other: false, redial: false }],
  [
    "another order of variables",
    npx,
    { ...npx, env: { REGION: "eu", API_KEY: "k" } },
    { other: false, redial: false },
  ],
  ["another timeout", npx, { ...npx, timeoutMs: 5 }, { other: false, redial: false }],
  ["other tool rules", npx, { ...npx, tools: { deny: ["x"] } }, { other: false, redial: false }],
  ["another command", npx, { ...npx, command: "bunx" }, { other: true, redial: true }],
  ["another argument", npx, { ...npx, args: ["-y", "other"] }, { other: true, redial: true }],
  [
    "arguments that are split differently",
    { ...npx, args: ["a b"] },
    { ...npx, args: ["a", "b"] },
    { other: true, redial: true },
  ],
  ["an additional variable", npx, { ...npx, env: { ...npx.env, X: "" } }, { other: true, redial: true }],
  [
    "another value of a secret",
    npx,
    { ...npx, env: { ...npx.env, API_KEY: "l" } },
    { other: true, redial: true },
  ],
  [
    "another value of an ordinary variable",
    npx,
    { ...npx, env: { ...npx.env, REGION: "us" } },
    { other: false, redial: true },
  ],
  ["another working directory", npx, { ...npx, cwd: "/v" }, { other: false, redial: true }],
  ["another number of processes", npx, { ...npx, instances: 2 }, { other: false, redial: true }],
  ["another inheritEnv", npx, { ...npx, inheritEnv: ["X"] }, { other: false, redial: true }],
  [
    "another working directory of a script",
    { ...npx, args: ["./s.js"] },
    { ...npx, args: ["./s.js"], cwd: "/v" },
    { other: true, redial: true },
  ],
  ["another url", web, { ...web, url: "https://example.com/other" }, { other: true, redial: true }],
  [
    "another credential",
    web,
    { ...web, headers: { Authorization: "Bearer u" } },
    { other: true, redial: true },
  ],
  ["another oauth client", web, { ...web, oauth: { clientId: "c" } }, { other: true, redial: true }],
  ["another transport", web, { ...web, type: "sse" }, { other: false, redial: true }],
  ["another kind of server", npx, web, { other: true, redial: true }],
])("an entry with %s", (_what, before, after, { other, redial }) => {
  test(`is ${other ? "another" : "the same"} server`, async () => {
    expect(identityOf(await spec(before)) !== identityOf(await spec(after))).toBe(other);
  });

  test(`${redial ? "needs" : "does not need"} a new connection`, async () => {
    expect(sameDial(await spec(before), await spec(after))).toBe(!redial);
  });
});

test("a package in two projects is the same server, a relative script is not", async () => {
  const identity = async (entry: object, path: string) => identityOf(await spec(entry, path));
  const bare = { command: "npx", args: ["-y", "server"] };
  const script = { command: "python", args: ["server.py"] };
  expect(await identity(bare, "/p/.mcp.json")).toBe(await identity(bare, "/q/.mcp.json"));
  expect(await identity(script, "/p/.mcp.json")).not.toBe(await identity(script, "/q/.mcp.json"));
});

test("identity and dial key are hashes without secrets", async () => {
  const one = await spec(npx);
  expect([identityOf(one), dialOf(one)]).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^[0-9a-f]{32}$/),
  ]);
});

test("diff lists added, removed, redialed and changed servers", async () => {
  const before = await config({
    same: npx,
    gone: npx,
    moved: npx,
    tuned: npx,
    off: npx,
    bad: npx,
    on: { ...npx, disabled: true },
  });
  const after = await config({
    same: { ...npx },
    moved: { ...npx, args: [] },
    tuned: { ...npx, timeoutMs: 1 },
    off: { ...npx, disabled: true },
    bad: { ...npx, args: "x" },
    on: npx,
    fresh: npx,
  });
  expect(diff(before, after)).toEqual({
    added: ["on", "fresh"],
    removed: ["gone", "off", "bad"],
    redialed: ["moved"],
    changed: ["tuned"],
  });
  expect(diff(after, after)).toEqual({ added: [], removed: [], redialed: [], changed: [] });
});

test.each<[string, object, object]>([
  ["the name of a server", { b: npx }, {}],
  ["a broken server", { a: { ...npx, args: 5 } }, {}],
  ["a disabled server", { a: { ...npx, disabled: true } }, {}],
  ["the pool", { a: npx }, { pool: { poolSize: 3 } }],
  ["a warning", { a: { ...npx, hello: 1 } }, {}],
])("configs that differ in %s are not equal", async (_what, servers, more) => {
  const base = await config({ a: npx });
  expect(sameConfig(base, await config({ a: npx }))).toBe(true);
  expect(sameConfig(base, await config(servers, more))).toBe(false);
});
