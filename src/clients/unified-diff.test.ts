import { expect, test } from "vitest";
import { unifiedDiff } from "./unified-diff.ts";

const diff = (before: string | undefined, after: string | undefined, shown: readonly string[] = []): string =>
  unifiedDiff({ path: "/f", before, after, shown });

test("a change is shown with three lines of context", () => {
  const before = '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4\n}\n';
  const after = '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "d": 4,\n  "e": "ours"\n}\n';
  expect(diff(before, after, ["ours"])).toBe(
    '--- /f\n+++ /f\n@@ -2,5 +2,6 @@\n   "a": 1,\n   "b": 2,\n   "c": 3,\n-  "d": 4\n+  "d": 4,\n+  "e": "ours"\n }',
  );
});

test("a new and a removed file are shown with /dev/null", () => {
  expect(diff(undefined, '{ "a": 1 }\n')).toBe('--- /dev/null\n+++ /f\n@@ -0,0 +1,1 @@\n+{ "a": 1 }');
  expect(diff('{ "a": 1 }', undefined)).toBe(
    '--- /f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-{ "a": 1 }\n\\ No newline at end of file',
  );
});

test.each([
  ['"TOKEN": "hush"', '"TOKEN": "…"'],
  ['"args": ["--key", "hush"]', '"args": ["…", "…"]'],
  ["args = ['hush', \"hush\"]", 'args = ["…", "…"]'],
  ['env = { A = "hush" }', 'env = { A = "…" }'],
  ['"x": 1 // hush', '"x": 1 // …'],
  ["# token = hush", "# …"],
  ["[projects.a] # hush", "[projects.a] # …"],
  ['key = """hush', 'key = "…"'],
  ["hush in the middle", "…"],
  ['hush"""', "…"],
  ['"a": "x\\"hush"', '"a": "…"'],
  ['"unfinished hush', '"…"'],
  ["/* hush", "/* …"],
  ["    * hush */", "…"],
  ["enabled = true", "enabled = true"],
  ['"n": -1.5e3,', '"n": -1.5e3,'],
  ['"pin": 4815162342,', '"pin": "…",'],
])("the line %s is shown as %s", (line, shown) => {
  expect(diff(`${line}\n`, `${line}\n"new": 1\n`).split("\n")[3]).toBe(` ${shown}`);
});

test("a long line is cut, and control characters are removed", () => {
  expect(diff("", `"${"k".repeat(9_000)}": 1\n`).length).toBeLessThan(600);
  expect(diff("", '"a\u001b[31m": 1\n')).not.toContain("\u001b");
});
