import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changeTrust, readTrust, trustPath } from "./trust-file.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "metamcp-trust-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const now = new Date("2026-01-02T03:04:05Z");
const write = (text: string): void => writeFileSync(trustPath(home), text);
const text = (): string => readFileSync(trustPath(home), "utf8");

const EMPTY = { allow: [], deny: [] };

test("without a file no publisher is trusted, and reading creates no file", async () => {
  expect((await readTrust(home)).rules).toEqual(EMPTY);
  expect(readdirSync(home)).toEqual([]);
  await changeTrust(home, { list: "allow", add: ["@a/*"] }, now);
  expect((await readTrust(home)).rules).toEqual({ allow: ["@a/*"], deny: [] });
  expect(statSync(trustPath(home)).mode & 0o777).toBe(0o600);
});

/** The rules that earlier versions wrote without asking. */
const GENERATED = {
  allow: [
    "@modelcontextprotocol/*",
    "io.github.modelcontextprotocol/*",
    "pypi:mcp-server-fetch",
    "pypi:mcp-server-git",
    "pypi:mcp-server-time",
    "@playwright/*",
    "io.github.microsoft/*",
    "com.microsoft/*",
    "io.github.github/*",
  ],
  deny: [] as string[],
};

test("a generated list trusts no publisher and is replaced by the first change", async () => {
  for (const [list, after] of [
    ["allow", { allow: ["@a/*"], deny: [] }],
    ["deny", { allow: [], deny: ["@a/*"] }],
  ] as const) {
    write(`${JSON.stringify(GENERATED, undefined, 2)}\n`);
    expect((await readTrust(home)).rules).toEqual(EMPTY);
    expect(await changeTrust(home, { list, add: ["@a/*"] }, now)).toEqual(after);
  }
});

test("a generated list that the user changed is kept", async () => {
  for (const rules of [
    { ...GENERATED, deny: ["x"] },
    { ...GENERATED, allow: GENERATED.allow.slice(1) },
    { ...GENERATED, allow: [...GENERATED.allow, "@a/*"] },
  ]) {
    write(JSON.stringify(rules));
    expect((await readTrust(home)).rules).toEqual(rules);
  }
});

test("a bare list allows its names, and becomes an object when something is denied", async () => {
  write('["@a/*"] // mine\n');
  expect((await readTrust(home)).rules).toEqual({ allow: ["@a/*"], deny: [] });
  await changeTrust(home, { list: "allow", add: ["b"] }, now);
  expect(JSON.parse(text())).toEqual(["@a/*", "b"]);
  expect(readdirSync(join(home, "backups"))).toHaveLength(1);
  await changeTrust(home, { list: "deny", add: ["c"] }, now);
  expect(JSON.parse(text())).toEqual({ allow: ["@a/*", "b"], deny: ["c"] });
});

test("adding and removing rules keeps comments and makes a backup", async () => {
  write('{\n  // the team\n  "allow": ["@a/*"],\n  "deny": ["x"] // never\n}\n');
  expect(await changeTrust(home, { list: "allow", add: ["b", "@a/*"] }, now)).toEqual({
    allow: ["@a/*", "b"],
    deny: ["x"],
  });
  expect(text()).toMatch(/\/\/ the team[\s\S]*\/\/ never/);
  expect(readdirSync(join(home, "backups"))).toHaveLength(1);
  expect(await changeTrust(home, { list: "deny", remove: ["x"] }, now)).toEqual({
    allow: ["@a/*", "b"],
    deny: [],
  });
});

test("concurrent edits lose no rule", async () => {
  const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
  await Promise.all(names.map((name) => changeTrust(home, { list: "allow", add: [name] }, now)));
  expect((await readTrust(home)).rules.allow.toSorted()).toEqual(names);
});

test.each([
  ["invalid JSON", "{", /:1:2: .*no publisher is trusted/],
  ["no content", "", /the file is empty/],
  ["a string", '"@a/*"', /contains a string/],
  ["null", "null", /contains null/],
  ["a misspelt key", '{"allow":[],"denied":["x"]}', /"denied" is unknown/],
  ["a string instead of a list", '{"allow":"@a/*"}', /allow is a string/],
  ["a number instead of a name", '{"deny":[7]}', /deny holds 7/],
  ["a rule for all publishers", '["*"]', /allow holds "\*"/],
  ["an invalid pattern", '["@a*"]', /allow holds "@a\*"/],
])("a file with %s is refused and not changed", async (_what, content, message) => {
  write(content);
  await expect(readTrust(home)).rejects.toThrow(message);
  await expect(changeTrust(home, { list: "allow", add: ["b"] }, now)).rejects.toThrow(message);
  expect(text()).toBe(content);
});
