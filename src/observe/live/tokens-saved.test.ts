import { expect, test } from "vitest";
import type { ToolsListed } from "../../kernel/events.ts";
import type { CallRow } from "../call-schema.ts";
import { CountedLists, shownByCall } from "./tokens-saved.ts";

const HOUR = 3_600_000;

function listed(at: number, caller: string, sessionless = false): ToolsListed {
  return { type: "listed", at, endpoint: "e", caller, sessionless, shownBytes: 440, allBytes: 44_000 };
}

/** Full cost minus what was shown. */
function saved(lists: CountedLists, list: ToolsListed): number {
  const { full, shown } = lists.tokens(list);
  return full - shown;
}

test("a tool list counts once per session, and once per hour for clients without sessions", () => {
  const lists = new CountedLists();
  expect([0, 1, 5 * HOUR].map((at) => saved(lists, listed(at, "a")))).toEqual([9_900, 0, 0]);
  expect(saved(lists, listed(2, "b"))).toBe(9_900);
  expect([0, HOUR - 1, HOUR, HOUR + 1].map((at) => saved(lists, listed(at, "key", true)))).toEqual([
    9_900, 0, 9_900, 0,
  ]);
});

test("a list that is longer than the full list gives a negative number", () => {
  expect(saved(new CountedLists(), { ...listed(0, "a"), allBytes: 0 })).toBe(-100);
});

test("the number of remembered callers is limited", () => {
  const lists = new CountedLists();
  for (let i = 0; i < 20_000; i++) saved(lists, listed(i, `${i}`));
  expect(saved(lists, listed(0, "19999"))).toBe(0);
  expect(saved(lists, listed(0, "0"))).toBe(9_900);
});

test("a lookup costs its result, unless code made it", () => {
  const row = { server: { name: "metamcp" }, tool: "mcp_discover", resultBytes: 440 } as CallRow;
  expect(shownByCall(row)).toBe(100);
  expect(shownByCall({ ...row, via: "code" })).toBe(0);
  expect(shownByCall({ ...row, tool: "mcp_call" })).toBe(0);
  expect(shownByCall({ ...row, server: { uuid: "u", name: "metamcp" } })).toBe(0);
});
