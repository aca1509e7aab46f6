import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { Debounce } from "./debounce.ts";

function setUp() {
  const clock = new ManualClock();
  const runs: number[] = [];
  const debounce = new Debounce(clock, { quietMs: 150, mostMs: 1_000 }, () => runs.push(clock.now()));
  return { clock, runs, debounce };
}

test("Debounce runs once after a quiet period", () => {
  const { clock, runs, debounce } = setUp();
  debounce.touch();
  clock.advance(100);
  debounce.touch();
  clock.advance(149);
  expect(runs).toEqual([]);
  clock.advance(1);
  expect(runs).toEqual([250]);
  clock.advance(10_000);
  expect(runs).toEqual([250]);
});

test("Debounce runs at the latest after mostMs, and starts again with the next touch", () => {
  const { clock, runs, debounce } = setUp();
  for (let n = 0; n < 25; n++) {
    debounce.touch();
    clock.advance(100);
  }
  expect(runs).toEqual([1_000, 2_000]);
  clock.advance(10_000);
  expect(runs).toEqual([1_000, 2_000, 2_550]);
});
