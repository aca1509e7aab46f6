import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { RateShare } from "./rate-share.ts";

function shareOf(burst: number, replicas: number) {
  const clock = new ManualClock();
  const share = new RateShare({ burst, intervalMs: 1_000 }, { clock, replicas });
  const passes = (): number => {
    let count = 0;
    for (; share.wait() === 0; count += 1) share.take();
    return count;
  };
  return { clock, share, passes };
}

test("it is the limit divided by the replicas, rounded down, and earned again in the same proportion", () => {
  const { clock, passes } = shareOf(10, 3);
  expect(passes()).toBe(3);
  clock.advance(2_999);
  expect(passes()).toBe(0);
  clock.advance(1);
  expect(passes()).toBe(1);
  expect(shareOf(2, 3).passes()).toBe(0);
});

test("calls beyond it that were given back make no room for others", () => {
  const { share, passes } = shareOf(10, 3);
  for (let call = 0; call < 7; call += 1) share.take();
  for (let refused = 0; refused < 5; refused += 1) share.giveBack(share.take());
  expect(passes()).toBe(0);
  expect(share.unearned).toBe(3);
});
