import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import type { Audit } from "../../store/store.ts";
import { AuditLog } from "./audit-log.ts";

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("the fault names the audit file if only the file cannot be written", async () => {
  const clock = new ManualClock();
  const appended: number[] = [];
  const audit = {
    append: async (batch: readonly unknown[]) => appended.push(batch.length),
  } as unknown as Audit;
  const log = new AuditLog(audit, { days: 1, file: "/dev/null/none" }, { clock, log: silentLog });
  log.add({ at: 1, body: "{}" });
  clock.advance(50);
  await until(() => log.state.fault !== undefined);
  expect(appended).toEqual([1]);
  expect(log.state).toMatchObject({
    queued: 1,
    lost: 0,
    fault: expect.stringMatching(/^the file of --audit-file: ENOTDIR/),
  });
  expect(log.ready).toBe(true);
});

test("retention uses the earlier of the times at this check and the previous one", async () => {
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
