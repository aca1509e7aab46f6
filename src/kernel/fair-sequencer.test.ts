import { expect, test } from "vitest";
import { FairSequencer } from "./fair-sequencer.ts";

const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

test("owners take turns, one function runs at a time, and one that fails rejects its own promise only", async () => {
  const sequencer = new FairSequencer({ perOwner: 3, total: 5 });
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`begin ${name}`);
    await settled();
    seen.push(`end ${name}`);
    if (name === "a2") throw new Error(name);
    return name;
  };
  const all = [
    ...["a1", "a2", "a3"].map((name) => sequencer.run("ada", work(name))),
    ...["b1", "b2"].map((name) => sequencer.run("bob", work(name))),
  ];
  const results = await Promise.allSettled(all.map(async (one) => await one));
  const order = ["a1", "a2", "b1", "a3", "b2"];
  expect(seen).toEqual(order.flatMap((name) => [`begin ${name}`, `end ${name}`]));
  expect(results.map((one) => ("value" in one ? one.value : "failed"))).toEqual([
    "a1",
    "failed",
    "a3",
    "b1",
    "b2",
  ]);
});

test("refuses more than an owner or all together may have, and has room again when they are done", async () => {
  const sequencer = new FairSequencer({ perOwner: 2, total: 3 });
  let end = (): void => {};
  const wait = () => new Promise<void>((resolve) => (end = resolve));
  const first = sequencer.run("ada", wait);
  const none = async (): Promise<void> => {};
  const second = sequencer.run("ada", none);
  expect(second).toBeDefined();
  expect(sequencer.run("ada", none), "the third of an owner").toBeUndefined();
  const other = sequencer.run("bob", none);
  expect(other).toBeDefined();
  expect(sequencer.run("eve", none), "the fourth of all").toBeUndefined();
  end();
  await first;
  await second;
  await other;
  await settled();
  expect(sequencer.run("eve", none)).toBeDefined();
});
