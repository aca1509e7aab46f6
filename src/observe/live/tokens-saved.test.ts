import { expect, test } from "vitest";
import type { ToolsListed } from "../../kernel/events.ts";
import type { CallRow } from "../call-schema.ts";
import { CountedLists, savedByCall } from "./tokens-saved.ts";

const HOUR = 3_600_000;

function listed(at: number, caller: string, sessionless = false): ToolsListed {
  return { type: "listed", at, endpoint: "e", caller, sessionless, shownBytes: 440, allBytes: 44_000 };
}

test("a tool list counts once per session, and once per hour for clients without sessions", () => {
  const lists = new CountedLists();
  expect([0, 1, 5 * HOUR].map((at) => lists.saved(listed(at, "a")))).toEqual([9_900, 0, 0]);
  expect(lists.saved(listed(2, "b"))).toBe(9_900);
  expect([0, HOUR - 1, HOUR, HOUR + 1].map((at) => lists.saved(listed(at, "key", true)))).toEqual([
    9_900, 0, 9_900, 0,
  ]);
});

test("a list that is longer than the full list gives a negative number", () => {
  expect(new CountedLists().saved({ ...listed(0, "a"), allBytes: 0 })).toBe(-100);
});

test("the number of remembered callers is limited", () => {
  const lists = new CountedLists();
  for (let i = 0; i < 20_000; i++) lists.saved(listed(i, `${i}`));
  expect(lists.saved(listed(0, "19999"))).toBe(0);
  expect(lists.saved(listed(0, "0"))).toBe(9_900);
});

test("a lookup costs its result, unless code made it", () => {
  const row = { server: { name: "metamcp" }, tool: "mcp_discover", resultBytes: 440 } as CallRow;
  expect(savedByCall(row)).toBe(-100);
  expect(savedByCall({ ...row, via: "code" })).toBe(0);
  expect(savedByCall({ ...row, tool: "mcp_call" })).toBe(0);
  expect(savedByCall({ ...row, server: { uuid: "u", name: "metamcp" } })).toBe(0);
});
