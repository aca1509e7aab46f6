import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { toRaw } from "../kernel/raw.ts";
import { Usage } from "./usage.ts";

const FROM = { server: "a", identity: "i", tool: "t" };

function open(home: string): Usage {
  return new Usage({ home, log: silentLog, clock: new ManualClock() });
}

test("keeps a few of each tool, newest first, once each, also for the next process", async () => {
  const { home } = temp();
  const usage = open(home);
  for (let n = 0; n < 9; n++) await usage.worked(FROM, toRaw({ n }), []);
  await usage.worked(FROM, toRaw({ n: 7 }), []);
  const expected = [8, 7, 6, 5, 4].map((n) => ({ n }));
  expect(await usage.examplesOf("a", "i", "t")).toEqual(expected);
  expect(await usage.examplesOf("a", "other", "t")).toEqual([]);
  await usage.flush();
  const file = join(home, "examples", "a.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, "examples")).mode & 0o777).toBe(0o700);
  expect(await open(home).examplesOf("a", "i", "t")).toEqual(expected);
});

test("two processes lose nothing of each other", async () => {
  const { home } = temp();
  const [one, two] = [open(home), open(home)];
  await one.worked(FROM, toRaw({ from: "one" }), []);
  await two.worked(FROM, toRaw({ from: "two" }), []);
  await two.worked({ ...FROM, identity: "j" }, toRaw({ from: "two" }), []);
  await Promise.all([one.flush(), two.flush()]);
  const later = open(home);
  expect(await later.examplesOf("a", "i", "t")).toEqual(
    expect.arrayContaining([{ from: "one" }, { from: "two" }]),
  );
  expect(await later.examplesOf("a", "j", "t")).toEqual([{ from: "two" }]);
});

test("secrets, large arguments and empty ones are not kept; a broken file is none", async () => {
  const { home } = temp();
  const usage = open(home);
  for (const args of [
    { token: "x" },
    { q: "Bearer abcdefgh123" },
    { q: "x".repeat(3_000) },
    {},
    { q: "our marmalade" },
  ])
    await usage.worked(FROM, toRaw(args), ["marmalade"]);
  expect(await usage.examplesOf("a", "i", "t")).toEqual([]);
  await usage.worked(FROM, toRaw({ q: "fine" }), ["marmalade"]);
  await usage.flush();
  const file = join(home, "examples", "a.json");
  expect(readFileSync(file, "utf8")).toContain("fine");
  for (const broken of ["{", "[]", "null", '{"i":5}', '{"i":{"t":5}}']) {
    writeFileSync(file, broken);
    expect(await open(home).examplesOf("a", "i", "t")).toEqual([]);
  }
});
