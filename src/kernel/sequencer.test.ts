import { expect, test } from "vitest";
import { Sequencer } from "./sequencer.ts";

test("functions run in the order of their calls, one at a time", async () => {
  const sequencer = new Sequencer();
  const seen: string[] = [];
  const step = (name: string, turns: number) => async () => {
    seen.push(`begin ${name}`);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    seen.push(`end ${name}`);
    return name;
  };
  const results = await Promise.all([sequencer.run(step("a", 5)), sequencer.run(step("b", 1))]);
  expect(results).toEqual(["a", "b"]);
  expect(seen).toEqual(["begin a", "end a", "begin b", "end b"]);
});

test("a function that fails rejects its own promise only", async () => {
  const sequencer = new Sequencer();
  const failed = sequencer.run(() => {
    throw new Error("no");
  });
  const next = sequencer.run(() => 2);
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe(2);
});
