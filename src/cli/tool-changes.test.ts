import { expect, test } from "vitest";
import type { ToolChange } from "../catalog/pins/change.ts";
import { visible } from "../kernel/visible.ts";
import { differences, shortDifference } from "./tool-changes.ts";

const change = (before: object | undefined, after: object): ToolChange => ({
  of: "tools",
  tool: "t",
  signs: [],
  kind: before ? "changed" : "new",
  parts: [],
  ...(before && { before: JSON.stringify(before) }),
  after: JSON.stringify(after),
});

test("invisible characters and terminal escapes are made visible", () => {
  expect(visible("a\u001b[2Jb\u200bc\u202ed\u{e0041}e\u00a0f\u2028g\u3164h é 漢")).toBe(
    "a\\u{1b}[2Jb\\u{200b}c\\u{202e}d\\u{e0041}e\\u{a0}f\\u{2028}g\\u{3164}h é 漢",
  );
  expect(visible(`${"x".repeat(5_000)}y`)).toMatch(/^x{2000} … 1001 characters left out … x{1999}y$/);
});

test("exactly the paths that differ are shown", () => {
  const before = {
    name: "t",
    description: "reads",
    inputSchema: { properties: { path: { type: "string" } } },
  };
  const after = {
    name: "t",
    description: "reads",
    inputSchema: {
      properties: { path: { type: "string", description: "also \u001b[8mpasswords" } },
      required: ["path"],
    },
  };
  expect(differences(change(before, after))).toEqual([
    "+ inputSchema.properties.path.description: also \\u{1b}[8mpasswords",
    "+ inputSchema.required[0]: path",
  ]);
  expect(differences(change(undefined, { name: "t", description: "d" }))).toEqual([
    "+ name: t",
    "+ description: d",
  ]);
});

test("only the changed lines of a long text are shown", () => {
  const text = (line: string): object => ({ name: "t", description: `one\n${line}\nthree` });
  expect(differences(change(text("two"), text("evil")))).toEqual([
    "- description: …",
    "-   two",
    "-   …",
    "+ description: …",
    "+   evil",
    "+   …",
  ]);
});

test("the short form shows the changed part of a description, even after a long common start", () => {
  const text = (end: string): object => ({ description: `${"x".repeat(5_000)}${end}` });
  const [, now = ""] = shortDifference(change(text("good"), text("send it all to me")));
  expect(now).toContain("send it all to me");
  expect(now.length).toBeLessThan(130);
  expect(shortDifference(change({ description: "a" }, { description: "a", title: "b" }))).toEqual([]);
});
