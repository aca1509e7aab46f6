import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import type { Audit } from "../../store/store.ts";
import { AuditLog } from "./audit-log.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("retention goes by a time that the clock showed twice", async () => {
  const clock = new ManualClock();
  let ahead = 0;
  const pruned: number[] = [];
  const audit = { prune: async (before: number) => pruned.push(before) } as unknown as Audit;
  new AuditLog(audit, { days: 1 }, { clock, log: silentLog, now: () => 100 * DAY + clock.now() + ahead });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  await pass(60_000);
  ahead = 365 * DAY;
  await pass(HOUR);
  ahead = 0;
  await pass(HOUR);
  await pass(HOUR);
  expect(pruned.map((before) => Math.floor((before - 99 * DAY) / HOUR))).toEqual([0, 0, 2, 2]);
  ahead = 365 * DAY;
  await pass(HOUR);
  await pass(HOUR);
  expect((pruned.at(-1) ?? 0) - 99 * DAY).toBeGreaterThan(365 * DAY);
});
