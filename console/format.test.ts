import { expect, test } from "vitest";
import { ago, count, duration, percent, plural, roughly, size } from "./format.ts";

const plain = (text: string): string => text.replaceAll("\u202f", " ");

test.each([
  [0, "0"],
  [999, "999"],
  [1_240, "1 240"],
  [1_234_567, "1 234 567"],
])("count %d", (n, text) => expect(plain(count(n))).toBe(text));

test.each([
  [9_999, "9 999"],
  [12_300, "12 k"],
  [3_100_000, "3.1 M"],
  [-3_100_000, "-3.1 M"],
  [2e9, "2 G"],
])("roughly %d", (n, text) => expect(plain(roughly(n))).toBe(text));

test.each([
  [0, "0 ms"],
  [0.42, "0.4 ms"],
  [340.2, "340 ms"],
  [999.7, "1 s"],
  [2_100, "2.1 s"],
  [12_345, "12 s"],
  [59_960, "1 min"],
  [7_200_000, "2 h"],
  [259_200_000, "3 days"],
])("duration %d", (ms, text) => expect(plain(duration(ms))).toBe(text));

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_229, "1.2 KB"],
  [999_600, "1 MB"],
  [5 * 1_048_576, "5 MB"],
])("size %d", (bytes, text) => expect(plain(size(bytes))).toBe(text));

test("percent formats a share, and plural picks the form of the word", () => {
  expect([percent(0, 0), percent(4, 1_000), percent(1, 3), percent(1, 1)].map(plain)).toEqual([
    "0 %",
    "0.4 %",
    "33 %",
    "100 %",
  ]);
  expect([plural(1, "server"), plural(0, "server"), plural(2, "entry", "entries")]).toEqual([
    "1 server",
    "0 servers",
    "2 entries",
  ]);
});

test("ago formats a time relative to now", () => {
  const now = Date.UTC(2030, 0, 31, 12);
  const agoBy = (ms: number) => plain(ago(now - ms, now));
  expect([agoBy(500), agoBy(12_000), agoBy(240_000), agoBy(7_200_000), agoBy(3 * 86_400_000)]).toEqual([
    "just now",
    "12 s ago",
    "4 min ago",
    "2 h ago",
    "3 d ago",
  ]);
  expect(plain(ago(now + 3_600_000, now))).toBe("in 1 h");
  expect(agoBy(40 * 86_400_000)).toBe("22 Dec 2029");
});
