import { expect, test } from "vitest";
import { toArguments, typedArguments } from "./override.ts";

test("typedArguments and toArguments are inverse", () => {
  const args = { depth: { fixed: 2 }, where: { default: "here" }, nothing: { fixed: null } };
  const typed = typedArguments(args);
  expect(typed.map(({ name, mode, json }) => [name, mode, json])).toEqual([
    ["depth", "fixed", "2"],
    ["where", "default", '"here"'],
    ["nothing", "fixed", "null"],
  ]);
  expect(toArguments(typed)).toEqual(args);
});

test("toArguments returns undefined if a value is not JSON", () => {
  expect(toArguments([{ name: "where", mode: "fixed", json: "here" }])).toBeUndefined();
});
