import { expect, test } from "vitest";
import { EventLog, LogBudget } from "./event-log.ts";

const data = (text: string): Buffer[] => [Buffer.from(text)];
const idIn = (event: Buffer): string => /^id: (\S+)$/m.exec(event.toString())?.[1] ?? "";
const texts = (log: EventLog, id: string) =>
  log.after(id)?.events.map((event) => /^data: (.*)$/m.exec(event.toString())?.[1]);

test("the event log replays the events after an id byte for byte, and only those of the same stream", () => {
  const log = new EventLog(new LogBudget());
  const start = log.mark(1);
  const first = log.add(1, data("a"), 0);
  log.add(2, data("foreign"), 0);
  const second = log.add(1, data("b"), 0);
  expect(texts(log, start)).toEqual(["a", "b"]);
  expect(log.after(idIn(first))?.events).toEqual([second]);
});

test("the event log drops its oldest events beyond 256 events or 1 MiB", () => {
  const log = new EventLog(new LogBudget());
  const start = log.mark(1);
  for (let n = 0; n < 1_000; n++) log.add(1, data(String(n)), 0);
  expect(texts(log, start)).toHaveLength(256);
  expect(texts(log, start)?.at(-1)).toBe("999");

  const heavy = new EventLog(new LogBudget());
  for (let n = 0; n < 10; n++) heavy.add(1, [Buffer.alloc(300_000, String(n))], 0);
  expect(texts(heavy, "1-0")).toHaveLength(3);
});

test("the event log drops events after five minutes", () => {
  const budget = new LogBudget();
  const log = new EventLog(budget);
  log.add(1, data("old"), 0);
  log.add(1, data("young"), 200_000);
  log.expire(300_000);
  expect(texts(log, "1-0")).toEqual(["young"]);
  log.expire(500_000);
  expect(texts(log, "1-0")).toEqual([]);
  expect(budget.bytes).toBe(0);
});

test("all logs together stay within one budget, and a cleared log releases its bytes", () => {
  const budget = new LogBudget();
  const logs = Array.from({ length: 20 }, () => new EventLog(budget));
  for (const log of logs) {
    const event = log.add(1, [Buffer.alloc(8 << 20)], 0);
    expect(event.length).toBeGreaterThan(8 << 20);
    expect(budget.bytes).toBeLessThanOrEqual(64 << 20);
  }
  for (const log of logs) log.clear();
  expect(budget.bytes).toBe(0);
});

test.each(["", "x", "1", "1-", "-1", "1-2-3", "9".repeat(40), "1-1e3"])(
  "the event log does not accept %j as an id",
  (id) => {
    expect(new EventLog(new LogBudget()).after(id)).toBeUndefined();
  },
);
