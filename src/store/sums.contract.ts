/** Contract for the sums of every store. */
import { describe, expect, test } from "vitest";
import type { Store } from "./store.ts";
import type { StoreDatabase } from "./store-database.contract.ts";
import { type NewSum, SUM_KEPT_MS, SUM_MS, type SumBatch, type SumPer } from "./sum-rows.ts";

const HOUR = 500_000 * SUM_MS.hour;
const NOTHING = {
  errors: 0,
  refused: 0,
  request_bytes: 0,
  result_bytes: 0,
  tokens_full: 0,
  tokens_shown: 0,
};

const sum = (of: string, calls: number, at = HOUR, per: SumPer = "hour"): NewSum => ({
  ...NOTHING,
  per,
  at,
  of,
  calls,
  last: at + calls,
});

const batch = (writer: string, n: number, sums: readonly NewSum[]): SumBatch => ({
  writer,
  n,
  groups: [...new Set(sums.map(({ of }) => of))].map((id) => ({ id, about: `{"is":"${id}"}` })),
  sums,
  durations: sums.map(({ per, at, of, calls }) => ({ per, at, of, bucket: calls % 3, calls })),
});

export function sumsContract(name: string, database: () => Promise<StoreDatabase>): void {
  describe(`sums in ${name}`, () => {
    test("of all writers add up, also those that write at the same time", async () => {
      const where = await database();
      const one = await where.open();
      const two = one.shared ? await where.open() : one;
      const groups = Array.from({ length: 40 }, (_, i) => `g${i}`);
      const write = async (writer: string, { sums }: Store, of: readonly string[], times: number) => {
        for (const n of [1, 2, 3, 4, 5])
          await sums.add(
            batch(
              writer,
              n,
              of.map((group) => sum(group, times * n)),
            ),
          );
      };
      await Promise.all([write("a", one, groups, 1), write("b", two, groups.toReversed(), 10)]);
      const read = await one.sums.byGroup({ per: "hour", from: HOUR });
      expect(read).toHaveLength(40);
      for (const row of read) expect(row).toMatchObject({ calls: 165, last: HOUR + 50 });
      expect(await two.sums.byBucket({ per: "hour", from: HOUR, of: ["g1", "g2"] })).toEqual([
        { ...NOTHING, at: HOUR, calls: 330 },
      ]);
      const times = await two.sums.durations({ per: "hour", from: HOUR, of: ["g7"] }, "of");
      expect(times.reduce((total, { calls }) => total + calls, 0)).toBe(165);
    });

    test("count a batch once that is sent again", async () => {
      const { sums } = await (await database()).open();
      await sums.add(batch("a", 1, [sum("g", 3)]));
      await sums.add(batch("a", 1, [sum("g", 3)]));
      await sums.add(batch("a", 2, [sum("g", 4)]));
      expect(await sums.byGroup({ per: "hour", from: HOUR })).toMatchObject([{ of: "g", calls: 7 }]);
    });

    test("are read by time and group, with what groups are about", async () => {
      const { sums } = await (await database()).open();
      const later = HOUR + SUM_MS.hour;
      await sums.add(
        batch("a", 1, [sum("g", 3), sum("h", 2, later), sum("g", 5, later), sum("g", 9, HOUR, "day")]),
      );
      expect(await sums.byBucket({ per: "hour", from: HOUR })).toMatchObject([
        { at: HOUR, calls: 3 },
        { at: later, calls: 7 },
      ]);
      expect(await sums.byGroup({ per: "hour", from: later, of: ["h"] })).toMatchObject([
        { of: "h", calls: 2 },
      ]);
      expect(await sums.calls({ per: "hour", from: HOUR, of: ["g"] })).toEqual([
        { of: "g", at: HOUR, calls: 3 },
        { of: "g", at: later, calls: 5 },
      ]);
      expect(await sums.durations({ per: "hour", from: HOUR, of: ["g"] }, "at")).toEqual([
        { key: HOUR, bucket: 0, calls: 3 },
        { key: later, bucket: 2, calls: 5 },
      ]);
      expect(await sums.about(["h", "x"])).toEqual(new Map([["h", '{"is":"h"}']]));
      expect(Math.abs((await sums.since()) - Date.now())).toBeLessThan(600_000);
    });

    test("of all groups together are those of each group added up, until a given time", async () => {
      const { sums } = await (await database()).open();
      const later = HOUR + SUM_MS.hour;
      await sums.add(batch("a", 1, [sum("g", 3), sum("h", 2), sum("g", 5, later)]));
      await sums.add(batch("a", 2, [sum("h", 4)]));
      const range = { per: "hour", from: HOUR } as const;
      const each = { ...range, of: ["g", "h"] };
      expect(await sums.byBucket(range)).toEqual(await sums.byBucket(each));
      expect(await sums.durations(range, "at")).toEqual(await sums.durations(each, "at"));
      expect(await sums.byGroup({ ...range, to: later })).toMatchObject([
        { of: "g", calls: 3 },
        { of: "h", calls: 6 },
      ]);
    });

    test("are deleted when they are old, minutes first, and what they are about at last", async () => {
      let now = HOUR;
      const { sums } = await (await database()).open({ now: () => now });
      const all = (["minute", "hour", "day"] as const).map((per) => sum("g", 1, HOUR, per));
      await sums.add({ ...batch("a", 1, all), groups: [{ id: "g", about: "{}" }] });
      const left = async () => {
        await sums.prune(now);
        const read = await Promise.all(
          (["minute", "hour", "day"] as const).map((per) => sums.byGroup({ per, from: 0 })),
        );
        return [...read.map((rows) => rows.length), (await sums.about(["g"])).size];
      };
      expect(await left()).toEqual([1, 1, 1, 1]);
      for (const [per, expected] of [
        ["minute", [0, 1, 1, 1]],
        ["hour", [0, 0, 1, 1]],
        ["day", [0, 0, 0, 0]],
      ] as const) {
        now = HOUR + SUM_KEPT_MS[per] + 1;
        expect(await left()).toEqual(expected);
      }
    });
  });
}
