import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import type { OwnedRecord } from "./audit-log.ts";
import { Refusals } from "./refusals.ts";

function counter() {
  const clock = new ManualClock();
  const records: OwnedRecord[] = [];
  const refusals = new Refusals(clock, (record) => records.push(record));
  const add = (owner: string, kind: string, at = 0): void =>
    refusals.add({ owner, kind, at, record: () => ({ at, owner, body: `{"kind":"${kind}"}` }) });
  return { clock, records, refusals, add };
}

test("a few equal refusals are recorded one by one, more of them in one record per second", () => {
  const { clock, records, add } = counter();
  for (let at = 0; at < 1_000; at++) add("ada", "unknown", at);
  expect(records).toHaveLength(5);
  clock.advance(1_000);
  expect(records.slice(5)).toEqual([
    { at: 999, owner: "ada", body: '{"kind":"unknown","count":995,"since":"1970-01-01T00:00:00.005Z"}' },
  ]);
  add("ada", "unknown", 2_000);
  expect(records.at(-1)).toMatchObject({ at: 2_000, body: '{"kind":"unknown"}' });
  clock.advance(5_000);
  expect(records).toHaveLength(7);
});

test("many kinds of refusals of one caller are counted together, and others are not affected", () => {
  const { records, refusals, add } = counter();
  for (let n = 0; n < 10_000; n++) add("flood", `kind ${n}`);
  add("ada", "kind 1");
  refusals.flush();
  const flood = records.filter(({ owner }) => owner === "flood").map(({ body }) => JSON.parse(body));
  expect(flood).toHaveLength(26);
  expect(flood.reduce((sum: number, { count = 1 }) => sum + count, 0)).toBe(10_000);
  expect(flood.at(-1)).toMatchObject({ various: true });
  expect(records.filter(({ owner }) => owner === "ada")).toHaveLength(1);
});
