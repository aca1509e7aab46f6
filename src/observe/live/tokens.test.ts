import { expect, test } from "vitest";
import type { ToolsListed } from "../../kernel/events.ts";
import type { CallRow } from "../call-row.ts";
import { Listings, savedByCall } from "./tokens.ts";

const HOUR = 3_600_000;

function listed(at: number, caller: string, sessionless = false): ToolsListed {
  return { type: "listed", at, endpoint: "e", caller, sessionless, shownBytes: 400, allBytes: 40_000 };
}

test("a session's list counts once, however often it asks; without sessions once an hour", () => {
  const listings = new Listings();
  expect([0, 1, 5 * HOUR].map((at) => listings.saved(listed(at, "a")))).toEqual([9_900, 0, 0]);
  expect(listings.saved(listed(2, "b"))).toBe(9_900);
  expect([0, HOUR - 1, HOUR, HOUR + 1].map((at) => listings.saved(listed(at, "key", true)))).toEqual([
    9_900, 0, 9_900, 0,
  ]);
});

test("a list that is longer than what it stands for saves less than nothing", () => {
  expect(new Listings().saved({ ...listed(0, "a"), allBytes: 0 })).toBe(-100);
});

test("whoever comes, only so many are remembered", () => {
  const listings = new Listings();
  for (let i = 0; i < 20_000; i++) listings.saved(listed(i, `${i}`));
  expect(listings.saved(listed(0, "19999"))).toBe(0);
  expect(listings.saved(listed(0, "0"))).toBe(9_900);
});

test("looking costs what is read, unless code looks", () => {
  const row = { server: { name: "metamcp" }, tool: "mcp_discover", resultBytes: 400 } as CallRow;
  expect(savedByCall(row)).toBe(-100);
  expect(savedByCall({ ...row, via: "code" })).toBe(0);
  expect(savedByCall({ ...row, tool: "mcp_call" })).toBe(0);
  expect(savedByCall({ ...row, server: { uuid: "u", name: "metamcp" } })).toBe(0);
});
