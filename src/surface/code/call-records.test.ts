import { expect, test } from "vitest";
import { callsText, shownCalls } from "./call-records.ts";

const calls = (count: number, error?: string) =>
  Array.from({ length: count }, () => ({ server: "a", tool: "x", ms: 0.1, ...(error && { error }) }));

test("shownCalls returns up to 20 calls one by one, more grouped by tool and error", () => {
  expect(shownCalls(calls(20))).toHaveLength(20);
  expect(shownCalls([...calls(98), ...calls(2, "timeout")])).toEqual([
    { server: "a", tool: "x", ms: 9.8, count: 98 },
    { server: "a", tool: "x", ms: 0.2, count: 2, error: "timeout" },
  ]);
});

test("callsText names each tool once per error, with its count", () => {
  expect(callsText([...calls(100), ...calls(1, "timeout")])).toBe("a:x ×100, a:x (timeout)");
  const many = Array.from({ length: 50 }, (_, n) => ({ server: "a", tool: `t${n}`, ms: 1 }));
  expect(callsText(many)).toMatch(/^a:t0, .*a:t19, and 30 other tools$/);
});

test("read(uri) is shown under the name that code used", () => {
  const whole = { server: "metamcp", tool: "whole", ms: 1 };
  expect(shownCalls([whole])).toEqual([{ ...whole, tool: "read" }]);
  expect(callsText([whole])).toBe("metamcp:read");
  expect(shownCalls([{ ...whole, server: "other" }])).toEqual([{ ...whole, server: "other" }]);
});
