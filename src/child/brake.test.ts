import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { Brake } from "./brake.ts";

const MB = 1024 * 1024;

function setUp() {
  const clock = new ManualClock();
  const stuck: string[] = [];
  const brake = new Brake({ clock, onStuck: (reason) => void stuck.push(reason) });
  const stream = new PassThrough().resume();
  brake.add(stream);
  return { clock, stuck, brake, stream };
}

test("streams are paused while over 1 MB waits, also those that are added meanwhile, and then go on", () => {
  const { brake, stream, stuck, clock } = setUp();
  brake.update(MB);
  expect(stream.isPaused()).toBe(false);
  brake.update(MB + 1);
  const later = new PassThrough().resume();
  brake.add(later);
  expect([stream.isPaused(), later.isPaused()]).toEqual([true, true]);
  // Something else resumed it.
  stream.resume();
  brake.update(2 * MB);
  expect(stream.isPaused()).toBe(true);
  clock.advance(29_000);
  brake.update(0);
  clock.advance(60_000);
  expect([stream.isPaused(), later.isPaused(), stuck]).toEqual([false, false, []]);
});

test("a child is given up, once, if over 64 MB waits or if it takes nothing for 30 s", () => {
  const flooded = setUp();
  flooded.brake.update(64 * MB + 1);
  flooded.brake.update(65 * MB);
  expect(flooded.stuck).toEqual([expect.stringMatching(/asked for more than it read \(67108865 bytes/)]);
  const blocked = setUp();
  blocked.brake.update(2 * MB);
  blocked.clock.advance(30_000);
  blocked.brake.update(0);
  expect(blocked.stuck).toHaveLength(1);
});

test("counted answers are taken off once, and a child that has ended is read to its end", () => {
  const { brake, stream, stuck, clock } = setUp();
  const first = brake.count(MB);
  const second = brake.count(MB);
  expect(stream.isPaused()).toBe(true);
  first();
  first();
  expect(stream.isPaused()).toBe(false);
  second();
  brake.count(3 * MB);
  brake.release();
  brake.count(99 * MB);
  clock.advance(60_000);
  expect([stream.isPaused(), stuck]).toEqual([false, []]);
});
