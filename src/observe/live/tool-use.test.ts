import { expect, test } from "vitest";
import { ToolUse } from "./tool-use.ts";

test("each tool of a server has its own count and last use", () => {
  const use = new ToolUse();
  use.add("a", "echo", 1);
  use.add("a", "echo", 5);
  use.add("b", "echo", 3);
  expect(use.of("a", "echo")).toEqual({ calls: 2, lastAt: 5 });
  expect(use.of("b", "echo")).toEqual({ calls: 1, lastAt: 3 });
  expect(use.of("a", "other")).toBeUndefined();
});

test("the least recently used tools are dropped first", () => {
  const use = new ToolUse();
  use.add("old", "used again", 0);
  for (let at = 1; at < 20_000; at++) use.add(`server ${at % 100}`, `tool ${at}`, at);
  use.add("old", "used again", 20_000);
  use.add("new", "one more", 20_001);
  expect(use.of("server 1", "tool 1")).toBeUndefined();
  expect(use.of("server 99", "tool 19999")).toEqual({ calls: 1, lastAt: 19_999 });
  expect(use.of("old", "used again")).toEqual({ calls: 2, lastAt: 20_000 });
  expect(use.of("new", "one more")).toBeDefined();
});
