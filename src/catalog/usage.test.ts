import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temp } from "../../test/support/temp.ts";
import { ManualClock } from "../kernel/clock.ts";
import { silentLog } from "../kernel/log.ts";
import { asRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { Usage } from "./usage.ts";

const FROM = { server: "a", identity: "i", tool: "t" };

function open(home: string): Usage {
  return new Usage({ home, log: silentLog, clock: new ManualClock() });
}

const json = (text: string): Raw => asRaw(Buffer.from(text));

async function kept(usage: Usage, identity = "i"): Promise<string[]> {
  return (await usage.examplesOf("a", identity, "t")).map(String);
}

test("the five newest different examples of a tool are stored, newest first, and read by the next process", async () => {
  const { home } = temp();
  const usage = open(home);
  for (let n = 0; n < 9; n++) await usage.worked(FROM, toRaw({ n }), []);
  await usage.worked(FROM, toRaw({ n: 7 }), []);
  const expected = [8, 7, 6, 5, 4].map((n) => `{"n":${n}}`);
  expect(await kept(usage)).toEqual(expected);
  expect(await kept(usage, "other")).toEqual([]);
  await usage.flush();
  const file = join(home, "examples", "a.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, "examples")).mode & 0o777).toBe(0o700);
  expect(await kept(open(home))).toEqual(expected);
});

test("examples keep every digit and escape, and the same arguments in another layout are not stored again", async () => {
  const { home } = temp();
  const usage = open(home);
  const exact = '{"id":12345678901234567890,"rate":1.50,"s":"\\u00e9\\/"}';
  const other = '{"id":12345678901234567891,"rate":1.50,"s":"\\u00e9\\/"}';
  for (const text of [exact, other, `{ "rate": 1.50, ${exact.slice(1, 26)}, "s":"\\u00e9\\/" }`])
    await usage.worked(FROM, json(text), []);
  expect(await kept(usage)).toEqual([other, exact]);
  await usage.flush();
  expect(await kept(open(home))).toEqual([other, exact]);

  // Examples from a file that a user reformatted are on one line.
  const file = join(home, "examples", "a.json");
  writeFileSync(file, `\n{ "i": {\n "t": [\n{\n"id": 12345678901234567890\r\n}, 5 ] } }\n`);
  expect(await kept(open(home))).toEqual(['{ "id": 12345678901234567890  }']);
});

test("two processes keep each other's examples", async () => {
  const { home } = temp();
  const [one, two] = [open(home), open(home)];
  await one.worked(FROM, toRaw({ from: "one" }), []);
  await two.worked(FROM, toRaw({ from: "two" }), []);
  await two.worked({ ...FROM, identity: "j" }, toRaw({ from: "two" }), []);
  await Promise.all([one.flush(), two.flush()]);
  const later = open(home);
  expect((await kept(later)).sort()).toEqual(['{"from":"one"}', '{"from":"two"}']);
  expect(await kept(later, "j")).toEqual(['{"from":"two"}']);
});

test("arguments with secrets, large and empty arguments are not stored, and a broken file is ignored", async () => {
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
  for (const text of [
    "{ }",
    "5",
    '{"q":"our mar\\u006dalade"}',
    '{"q":["Be\\u0061rer abcdefgh123"]}',
    '{"to\\u006ben":"x"}',
    '{"marm\\u0061lade":1}',
    // A parser uses the last duplicate, but both would be in the file.
    '{"q":"Bearer abcdefgh123","q":"fine"}',
    '{"a":{"token":"x"},"a":1}',
    '{"q":"c\\"\\/d"}',
    '{"pin_":90210}',
    '{"n":[90210]}',
  ])
    await usage.worked(FROM, json(text), ["marmalade", 'c"/d', "90210"]);
  expect(await kept(usage)).toEqual([]);
  await usage.worked(FROM, toRaw({ q: "fine" }), ["marmalade"]);
  await usage.flush();
  const file = join(home, "examples", "a.json");
  expect(readFileSync(file, "utf8")).toContain("fine");
  for (const broken of ["{", "[]", "null", "", '{"i":5}', '{"i":{"t":5}}', '{"i":{"t":[5,null,[]]}}']) {
    writeFileSync(file, broken);
    expect(await kept(open(home))).toEqual([]);
  }
});
