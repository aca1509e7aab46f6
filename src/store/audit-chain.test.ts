import fc from "fast-check";
import { expect, test } from "vitest";
import { AuditChain, type ChainEnd, EMPTY_CHAIN, recordsOf } from "./audit-chain.ts";
import type { AuditRecord } from "./store.ts";

const chain = new AuditChain(Buffer.alloc(32, 1));

/** Records with and without a shared head, with arbitrary text. */
const head = fc.constantFrom('{"who":"a","n":1', '{"who":"\u00e4 b ^0 9 "');
const shared = fc.record({ at: fc.nat(), head, body: fc.json().map((rest) => `,"rest":${rest}}`) });
const record = fc.oneof(fc.record({ at: fc.nat(), body: fc.json() }), shared);
const records = fc.array(record, { minLength: 2, maxLength: 12 });

test("records in batches of any size form one chain, and are read as they were written", () => {
  fc.assert(
    fc.property(records, fc.nat(10), (all, cut) => {
      const first = chain.batch(EMPTY_CHAIN, all.slice(0, cut + 1));
      const batches = [first];
      if (cut + 1 < all.length) batches.push(chain.batch(first, all.slice(cut + 1)));
      const expected = all.map(({ head = "", at, body }: AuditRecord, i) => ({
        seq: i + 1,
        at,
        body: head + body,
      }));
      for (const read of [batches.flatMap(recordsOf), recordsOf(chain.batch(EMPTY_CHAIN, all))])
        expect(read).toMatchObject(expected);
      let end: ChainEnd = EMPTY_CHAIN;
      for (const batch of batches) {
        expect(chain.faultOf(end, batch)).toBeUndefined();
        end = batch;
      }
    }),
  );
});

test("a batch stores a shared head once", () => {
  const records = [1, 2, 3].map((at) => ({ at, head: '{"who":"somebody"', body: `,"n":${at}}` }));
  const { lines } = chain.batch(EMPTY_CHAIN, records);
  expect(lines.split("somebody")).toHaveLength(2);
  expect(recordsOf({ lines }).map(({ body }) => JSON.parse(body))).toEqual(
    [1, 2, 3].map((n) => ({ who: "somebody", n })),
  );
});

test("faultOf detects changed, moved, repeated and removed records", () => {
  const changes: ((lines: string[], at: number) => string[])[] = [
    (lines, at) => lines.with(at, `${lines[at]} `),
    (lines, at) => lines.with(at, (lines[at] as string).replace(/ (\d+) /, " $10 ")),
    (lines, at) => lines.toSpliced(at, 1),
    (lines, at) => lines.toSpliced(at, 0, lines[at] as string),
    (lines, at) => [...lines.slice(at), ...lines.slice(0, at)],
  ];
  fc.assert(
    fc.property(records, fc.nat(), fc.constantFrom(...changes), (all, where, change) => {
      const batch = chain.batch(EMPTY_CHAIN, all);
      const lines = batch.lines.split("\n");
      const changed = change(lines, where % lines.length).join("\n");
      fc.pre(changed !== batch.lines);
      expect(chain.faultOf(EMPTY_CHAIN, { ...batch, lines: changed })).toBeDefined();
    }),
  );
});

test("a fault has the number of the record", () => {
  const batch = chain.batch(
    EMPTY_CHAIN,
    [1, 2, 3].map((at) => ({ at, body: `{"n":${at}}` })),
  );
  const changed = { ...batch, lines: batch.lines.replace('{"n":2}', '{"n":7}') };
  expect(chain.faultOf(EMPTY_CHAIN, changed)).toEqual({ seq: 2, reason: "was changed" });
  const lines = batch.lines.split("\n");
  const without = (at: number) => ({ ...batch, lines: lines.toSpliced(at, 1).join("\n") });
  for (const at of [0, 1, 2])
    expect(chain.faultOf(EMPTY_CHAIN, without(at))).toEqual({ seq: at + 1, reason: "is missing" });
  expect(chain.faultOf({ seq: 7, hash: "x" }, batch)).toEqual({ seq: 8, reason: "is missing" });
  expect(chain.faultOf({ seq: 0, hash: "x" }, batch)).toMatchObject({ seq: 1 });
});

test("batches and seals made with another key are rejected", () => {
  fc.assert(
    fc.property(records, (all) => {
      const stranger = new AuditChain(Buffer.alloc(32, 2));
      expect(chain.faultOf(EMPTY_CHAIN, stranger.batch(EMPTY_CHAIN, all))).toBeDefined();
      const link = { seq: 7, hash: "x" };
      expect(chain.isSealed(chain.sealed(link))).toBe(true);
      expect(chain.isSealed(stranger.sealed(link))).toBe(false);
      expect(chain.isSealed({ ...chain.sealed(link), seq: 8 })).toBe(false);
    }),
  );
});
