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
  ["the same", npx, { ...npx }, { other: false, redial: false }],
  [
    "the order of variables",
    npx,
    { ...npx, env: { REGION: "eu", API_KEY: "k" } },
    { other: false, redial: false },
  ],
  ["a timeout", npx, { ...npx, timeoutMs: 5 }, { other: false, redial: false }],
  ["tool rules", npx, { ...npx, tools: { deny: ["x"] } }, { other: false, redial: false }],
  ["the command", npx, { ...npx, command: "bunx" }, { other: true, redial: true }],
  ["an argument", npx, { ...npx, args: ["-y", "other"] }, { other: true, redial: true }],
  [
    "the border between arguments",
    { ...npx, args: ["a b"] },
    { ...npx, args: ["a", "b"] },
    { other: true, redial: true },
  ],
  ["a further variable", npx, { ...npx, env: { ...npx.env, X: "" } }, { other: true, redial: true }],
  [
    "the value of a secret",
    npx,
    { ...npx, env: { ...npx.env, API_KEY: "l" } },
    { other: true, redial: true },
  ],
  [
    "the value of another variable",
    npx,
    { ...npx, env: { ...npx.env, REGION: "us" } },
    { other: false, redial: true },
  ],
  ["the folder", npx, { ...npx, cwd: "/v" }, { other: false, redial: true }],
  ["how many processes it has", npx, { ...npx, instances: 2 }, { other: false, redial: true }],
  ["what it inherits", npx, { ...npx, inheritEnv: ["X"] }, { other: false, redial: true }],
  [
    "the folder of a script",
    { ...npx, args: ["./s.js"] },
    { ...npx, args: ["./s.js"], cwd: "/v" },
    { other: true, redial: true },
  ],
  ["the url", web, { ...web, url: "https://example.com/other" }, { other: true, redial: true }],
  ["the credential", web, { ...web, headers: { Authorization: "Bearer u" } }, { other: true, redial: true }],
  ["oauth", web, { ...web, oauth: { clientId: "c" } }, { other: true, redial: true }],
  ["the transport", web, { ...web, type: "sse" }, { other: false, redial: true }],
  ["all of it", npx, web, { other: true, redial: true }],
])("%s", (_what, before, after, { other, redial }) => {
  test(`is ${other ? "another" : "the same"} server`, async () => {
    expect(identityOf(await spec(before)) !== identityOf(await spec(after))).toBe(other);
  });

  test(`${redial ? "needs" : "needs no"} new connection`, async () => {
    expect(sameDial(await spec(before), await spec(after))).toBe(!redial);
  });
});

test("one package in two projects is one server; one script in two projects is two", async () => {
  const identity = async (entry: object, path: string) => identityOf(await spec(entry, path));
  const bare = { command: "npx", args: ["-y", "server"] };
  const script = { command: "python", args: ["server.py"] };
  expect(await identity(bare, "/p/.mcp.json")).toBe(await identity(bare, "/q/.mcp.json"));
  expect(await identity(script, "/p/.mcp.json")).not.toBe(await identity(script, "/q/.mcp.json"));
});

test("neither shows a secret", async () => {
  const one = await spec(npx);
  expect([identityOf(one), dialOf(one)]).toEqual([
    expect.stringMatching(/^[0-9a-f]{32}$/),
    expect.stringMatching(/^[0-9a-f]{32}$/),
  ]);
});

test("a change of the file is split by what has to happen", async () => {
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
  ["a server", { b: npx }, {}],
  ["a reason", { a: { ...npx, args: 5 } }, {}],
  ["a switch", { a: { ...npx, disabled: true } }, {}],
  ["the pool", { a: npx }, { pool: { poolSize: 3 } }],
  ["a warning", { a: { ...npx, hello: 1 } }, {}],
])("two configs that differ in %s are not the same", async (_what, servers, more) => {
  const base = await config({ a: npx });
  expect(sameConfig(base, await config({ a: npx }))).toBe(true);
  expect(sameConfig(base, await config(servers, more))).toBe(false);
});
