import { expect, test } from "vitest";
import { EventLog } from "./event-log.ts";

const bytes = (text: string): Buffer => Buffer.from(text);
const texts = (log: EventLog, id: string) => log.after(id)?.events.map(({ data }) => data.toString());

test("replays what came after an id, of its own stream only", () => {
  const log = new EventLog();
  const start = log.mark(1);
  const first = log.add(1, bytes("a"));
  log.add(2, bytes("foreign"));
  log.add(1, bytes("b"));
  expect(texts(log, start)).toEqual(["a", "b"]);
  expect(texts(log, first)).toEqual(["b"]);
});

test("forgets the oldest beyond its bounds, in number and in bytes", () => {
  const log = new EventLog();
  const start = log.mark(1);
  for (let n = 0; n < 1_000; n++) log.add(1, bytes(String(n)));
  expect(texts(log, start)).toHaveLength(256);
  expect(texts(log, start)?.at(-1)).toBe("999");

  const heavy = new EventLog();
  for (let n = 0; n < 10; n++) heavy.add(1, Buffer.alloc(300_000, String(n)));
  expect(texts(heavy, "1-0")).toHaveLength(3);
});

test.each(["", "x", "1", "1-", "-1", "1-2-3", "9".repeat(40), "1-1e3"])("%j is no id", (id) => {
  expect(new EventLog().after(id)).toBeUndefined();
});
