import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { LineGate } from "./line-gate.ts";

test("lets so many pass per second and tells once per second how many it held", () => {
  const clock = new ManualClock();
  const told: number[] = [];
  const gate = new LineGate({ clock, perSecond: 3, onHeldBack: (lines) => told.push(lines) });
  const passed = (): number => Array.from({ length: 10 }, () => gate.pass()).filter(Boolean).length;

  expect(passed()).toBe(3);
  clock.advance(999);
  expect(passed()).toBe(0);
  expect(told).toEqual([]);
  clock.advance(1);
  expect(told).toEqual([17]);
  expect(passed()).toBe(3);
  gate.flush();
  expect(told).toEqual([17, 7]);
  clock.advance(10_000);
  expect(told).toEqual([17, 7]);
  expect(clock.pending).toBe(0);
});
