/** What the database answered too late is not used, whoever notices first. */
import { expect, test } from "vitest";
import { silentLog } from "../../kernel/log.ts";
import type { LimitRows } from "../../store/limits.ts";
import { Reach } from "./reach.ts";

test("an answer that a stopped process reads before its timers grants nothing", async () => {
  let now = 0;
  const reach = new Reach({
    store: { state: { up: true } } as never,
    rows: {} as LimitRows,
    clock: { now: () => now, after: () => ({ cancel() {} }) },
    log: silentLog,
    replicas: () => 1,
    uncertain: () => false,
    certain: () => Promise.resolve(),
  });
  const answerAfter = (ms: number) =>
    reach.ask(async () => {
      now += ms;
      return "granted";
    });
  expect(await answerAfter(2_000)).toBe("granted");
  expect(await answerAfter(2_001)).toBeUndefined();
  expect(reach.away).toBe(false);
});
