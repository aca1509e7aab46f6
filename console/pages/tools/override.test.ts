import { expect, test } from "vitest";
import { argumentsIn, typedArguments } from "./override.ts";

test("what is kept of arguments is what is shown and sent again", () => {
  const args = { depth: { fixed: 2 }, where: { default: "here" }, nothing: { fixed: null } };
  const typed = typedArguments(args);
  expect(typed.map(({ name, mode, json }) => [name, mode, json])).toEqual([
    ["depth", "fixed", "2"],
    ["where", "default", '"here"'],
    ["nothing", "fixed", "null"],
  ]);
  expect(argumentsIn(typed)).toEqual(args);
});

test("a value that is not JSON is not sent", () => {
  expect(argumentsIn([{ name: "where", mode: "fixed", json: "here" }])).toBeUndefined();
});
