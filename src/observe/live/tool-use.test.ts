import { expect, test } from "vitest";
import { ToolUse, useOf } from "./tool-use.ts";

test("each tool of a server has its own count and last use", () => {
  const use = new ToolUse();
  use.add("a", "echo", 1);
  use.add("a", "echo", 5);
  use.add("b", "echo", 3);
  expect(useOf([use.all()], "a", "echo")).toEqual({ calls: 2, lastAt: 5 });
  expect(useOf([use.all()], "b", "echo")).toEqual({ calls: 1, lastAt: 3 });
  expect(useOf([use.all()], "a", "other")).toBeUndefined();
});

test("the least recently used tools are dropped first", () => {
  const use = new ToolUse();
  use.add("old", "used again", 0);
  for (let at = 1; at < 20_000; at++) use.add(`server ${at % 100}`, `tool ${at}`, at);
  use.add("old", "used again", 20_000);
  use.add("new", "one more", 20_001);
  expect(useOf([use.all()], "server 1", "tool 1")).toBeUndefined();
  expect(useOf([use.all()], "server 99", "tool 19999")).toEqual({ calls: 1, lastAt: 19_999 });
  expect(useOf([use.all()], "old", "used again")).toEqual({ calls: 2, lastAt: 20_000 });
  expect(useOf([use.all()], "new", "one more")).toBeDefined();
});
