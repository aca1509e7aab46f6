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

const NOBODY = { allow: [], deny: [] };

test("nobody is trusted until the user says so, and reading writes nothing", async () => {
  expect((await readTrust(home)).rules).toEqual(NOBODY);
  expect(readdirSync(home)).toEqual([]);
  await changeTrust(home, { list: "allow", add: ["@a/*"] }, now);
  expect((await readTrust(home)).rules).toEqual({ allow: ["@a/*"], deny: [] });
  expect(statSync(trustPath(home)).mode & 0o777).toBe(0o600);
});

/** As earlier versions wrote it, unasked. */
const UNASKED = {
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

test("a list that MetaMCP once wrote unasked trusts nobody, and goes with the first change", async () => {
  for (const [list, after] of [
    ["allow", { allow: ["@a/*"], deny: [] }],
    ["deny", { allow: [], deny: ["@a/*"] }],
  ] as const) {
    write(`${JSON.stringify(UNASKED, undefined, 2)}\n`);
    expect((await readTrust(home)).rules).toEqual(NOBODY);
    expect(await changeTrust(home, { list, add: ["@a/*"] }, now)).toEqual(after);
  }
});

test("a list that the user changed in any way stays as it is", async () => {
  for (const rules of [
    { ...UNASKED, deny: ["x"] },
    { ...UNASKED, allow: UNASKED.allow.slice(1) },
    { ...UNASKED, allow: [...UNASKED.allow, "@a/*"] },
  ]) {
    write(JSON.stringify(rules));
    expect((await readTrust(home)).rules).toEqual(rules);
  }
});

test("a bare list allows, and becomes more only when it must", async () => {
  write('["@a/*"] // mine\n');
  expect((await readTrust(home)).rules).toEqual({ allow: ["@a/*"], deny: [] });
  await changeTrust(home, { list: "allow", add: ["b"] }, now);
  expect(JSON.parse(text())).toEqual(["@a/*", "b"]);
  expect(readdirSync(join(home, "backups"))).toHaveLength(1);
  await changeTrust(home, { list: "deny", add: ["c"] }, now);
  expect(JSON.parse(text())).toEqual({ allow: ["@a/*", "b"], deny: ["c"] });
});

test("adding and removing keeps what else is there, and a copy", async () => {
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

test("edits at once lose nothing", async () => {
  const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
  await Promise.all(names.map((name) => changeTrust(home, { list: "allow", add: [name] }, now)));
  expect((await readTrust(home)).rules.allow.toSorted()).toEqual(names);
});

test.each([
  ["not JSON", "{", /:1:2: .*no publisher is trusted/],
  ["empty", "", /the file is empty/],
  ["a text", '"@a/*"', /contains a string/],
  ["null", "null", /contains null/],
  ["a misspelt key", '{"allow":[],"denied":["x"]}', /"denied" is unknown/],
  ["a text for a list", '{"allow":"@a/*"}', /allow is a string/],
  ["a number for a name", '{"deny":[7]}', /deny holds 7/],
  ["everybody", '["*"]', /allow holds "\*"/],
  ["a pattern that is none", '["@a*"]', /allow holds "@a\*"/],
])("%s is refused and left as it is", async (_what, content, message) => {
  write(content);
  await expect(readTrust(home)).rejects.toThrow(message);
  await expect(changeTrust(home, { list: "allow", add: ["b"] }, now)).rejects.toThrow(message);
  expect(text()).toBe(content);
});
