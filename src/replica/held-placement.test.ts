import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { Held } from "./held-placement.ts";
import { END_MS, FRESH_MS, LEASE_MS, RENEW_MS } from "./placement-times.ts";

function held() {
  const clock = new ManualClock();
  let over = 0;
  const right = new Held(clock.now(), { clock, onOver: () => (over += 1) });
  return { clock, right, over: () => over };
}

test("a right that is not renewed is over before another replica may have it", () => {
  const { clock, right, over } = held();
  clock.advance(END_MS - 1);
  expect([right.valid, over()]).toEqual([true, 0]);
  clock.advance(1);
  expect([right.valid, over()]).toEqual([false, 1]);
  expect(clock.now()).toBeLessThan(LEASE_MS);
});

test("a renewal counts from when it was sent, however late its answer comes", () => {
  const { clock, right, over } = held();
  clock.advance(RENEW_MS);
  const sentAt = clock.now();
  clock.advance(3_000);
  right.renewed(sentAt);
  clock.advance(END_MS - 3_000 - 1);
  expect([right.valid, over()]).toEqual([true, 0]);
  clock.advance(1);
  expect([right.valid, over()]).toEqual([false, 1]);
});

test("only a fresh renewal tells the guards of its processes to wait again", () => {
  const { clock, right } = held();
  let told = 0;
  const done = async (): Promise<void> => {};
  right.place.join({ renewed: () => (told += 1), moved: () => {}, lost: done });
  right.renewed(clock.now());
  const sentAt = clock.now();
  clock.advance(FRESH_MS);
  right.renewed(sentAt);
  expect(told).toBe(1);
});

test("a right that is over stays over", () => {
  const { clock, right } = held();
  right.end();
  right.renewed(clock.now());
  expect(right.valid).toBe(false);
  expect(clock.pending).toBe(0);
});
