import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { BatchQueue } from "./batch-queue.ts";

const BIG = 1_000_000;

interface Sink {
  readonly batches: number[][];
  /** The result of the next writes. A promise that never settles simulates a hang. */
  answer: () => Promise<number>;
}

function queueOf(most = 100, sink: Sink = { batches: [], answer: () => Promise.resolve(0) }) {
  const clock = new ManualClock();
  const queue = new BatchQueue<number>({
    clock,
    write: async (batch) => {
      const refused = await sink.answer();
      sink.batches.push([...batch]);
      return refused;
    },
    retry: (error) => {
      const { message } = error as Error;
      return message === "later" ? 20_000 : message === "away";
    },
    sizeOf: (item) => (item === BIG ? 60 : 1),
    mostInBatch: 10,
    mostBytesInBatch: 100,
    mostQueued: most,
    mostBytes: 1_000,
    everyMs: 50,
  });
  /** Advances the clock and lets promises settle between the ticks. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 50) {
      clock.advance(50);
      await new Promise(setImmediate);
    }
  };
  return { queue, sink, pass };
}

test("writes in batches, in order, and not more often than everyMs", async () => {
  const { queue, sink, pass } = queueOf();
  for (let i = 0; i < 25; i++) queue.add(i);
  await pass(50);
  expect(sink.batches.map(({ length }) => length)).toEqual([10]);
  await pass(100);
  expect(sink.batches.flat()).toEqual(Array.from({ length: 25 }, (_, i) => i));
  expect([queue.queued, queue.lost, queue.written]).toEqual([0, 0, 25]);
});

test("a hanging write does not block add, and the queue stays within its limit", async () => {
  const { queue, sink, pass } = queueOf(100);
  sink.answer = () => new Promise(() => {});
  for (let i = 0; i < 1_000; i++) {
    queue.add(i);
    if (i % 100 === 0) await pass(50);
  }
  expect([queue.queued, queue.lost]).toEqual([100, 900]);
});

test("a failed batch is retried and written once", async () => {
  const { queue, sink, pass } = queueOf();
  sink.answer = () => Promise.reject(new Error("away"));
  for (let i = 0; i < 15; i++) queue.add(i);
  await pass(1_000);
  expect(queue.fault).toBe("away");
  sink.answer = () => Promise.resolve(0);
  await pass(10_000);
  expect(sink.batches.flat()).toEqual(Array.from({ length: 15 }, (_, i) => i));
  expect([queue.fault, queue.lost]).toEqual([undefined, 0]);
});

test("a batch that must not be retried counts as lost, and later items are written", async () => {
  const { queue, sink, pass } = queueOf();
  sink.answer = () => Promise.reject(new Error("bad"));
  for (let i = 0; i < 10; i++) queue.add(i);
  await pass(50);
  expect([queue.lost, queue.queued]).toEqual([10, 0]);
  sink.answer = () => Promise.resolve(0);
  queue.add(11);
  await pass(1_000);
  expect(sink.batches.flat()).toEqual([11]);
});

test("the limit also applies to bytes", async () => {
  const { queue, sink, pass } = queueOf();
  sink.answer = () => Promise.reject(new Error("away"));
  for (let i = 0; i < 50; i++) queue.add(BIG);
  expect([queue.queued, queue.lost, queue.fill >= 1]).toEqual([17, 33, true]);
  sink.answer = () => Promise.resolve(0);
  await pass(10_000);
  expect(sink.batches.every(({ length }) => length === 1)).toBe(true);
  expect([queue.written, queue.fill]).toEqual([17, 0]);
});

test("items that the receiver refused count as lost", async () => {
  const { queue, sink, pass } = queueOf();
  sink.answer = () => Promise.resolve(3);
  for (let i = 0; i < 10; i++) queue.add(i);
  await pass(50);
  expect([queue.written, queue.lost, queue.queued]).toEqual([7, 3, 0]);
});

test("a retry waits for the time that the error asks for", async () => {
  const { queue, sink, pass } = queueOf();
  sink.answer = () => Promise.reject(new Error("later"));
  queue.add(1);
  await pass(50);
  sink.answer = () => Promise.resolve(0);
  await pass(19_000);
  expect(queue.queued).toBe(1);
  expect(queue.stuckMs).toBe(19_000);
  await pass(1_500);
  expect(queue.written).toBe(1);
});

test("close writes all items, or counts them as lost after the time limit", async () => {
  const { queue, sink, pass } = queueOf();
  for (let i = 0; i < 35; i++) queue.add(i);
  const closed = queue.close(1_000);
  await pass(100);
  await closed;
  expect(sink.batches.flat()).toHaveLength(35);

  const hanging = queueOf();
  hanging.sink.answer = () => new Promise(() => {});
  hanging.queue.add(1);
  const ended = hanging.queue.close(1_000);
  await hanging.pass(1_000);
  await ended;
  expect(hanging.queue.lost).toBe(1);
});

test("an owner gets as much room as stays free, and who waits for an item learns whether it was written", async () => {
  const clock = new ManualClock();
  let answer = (): Promise<number> => new Promise(() => {});
  const queue = new BatchQueue<{ owner: string }>({
    clock,
    write: () => answer(),
    retry: () => false,
    ownerOf: ({ owner }) => owner,
    sizeOf: () => 1,
    mostInBatch: 10,
    mostBytesInBatch: 100,
    mostQueued: 120,
    mostBytes: 1_000,
    everyMs: 50,
  });
  const added = (owner: string): number =>
    Array.from({ length: 200 }, () => queue.add({ owner })).filter(Boolean).length;
  expect([added("a"), added("b"), added("c")]).toEqual([60, 30, 15]);
  expect(queue.add({ owner: "d" })).toBe(true);
  await expect(queue.addAndWait({ owner: "a" })).rejects.toThrow("no room");

  answer = () => Promise.reject(new Error("no"));
  const last = queue.addAndWait({ owner: "e" });
  const closed = queue.close(1_000);
  await expect(last).rejects.toThrow("no");
  expect(await closed).toEqual([]);
});
