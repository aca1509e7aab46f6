import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { CallSignal } from "../../kernel/signal.ts";
import { InstallPlaces } from "./install-places.ts";

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("two starts install at a time, the others follow in order, and one that is cancelled takes no place", async () => {
  const places = new InstallPlaces(new ManualClock());
  const signals = Array.from({ length: 5 }, () => new CallSignal());
  const given: { n: number; giveBack: () => void }[] = [];
  for (const [n, signal] of signals.entries())
    places.take(signal).then(
      (giveBack) => void given.push({ n, giveBack }),
      () => {},
    );
  const order = async (): Promise<number[]> => {
    await settled();
    return given.map(({ n }) => n);
  };
  expect(await order()).toEqual([0, 1]);
  signals[2]?.abort(new Error("no longer wanted"));
  await settled();
  given[0]?.giveBack();
  given[0]?.giveBack();
  expect(await order()).toEqual([0, 1, 3]);
  given[1]?.giveBack();
  expect(await order()).toEqual([0, 1, 3, 4]);
});

test("a place is given back once the start no longer installs", () => {
  const clock = new ManualClock();
  let [done, back] = [false, 0];
  new InstallPlaces(clock).giveBackWhen(
    () => done,
    () => void back++,
  );
  clock.advance(60_000);
  expect(back).toBe(0);
  done = true;
  clock.advance(1_000);
  clock.advance(1_000);
  expect(back).toBe(1);
});
