import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { Holds } from "./holds.ts";

function setUp() {
  const clock = new ManualClock();
  const holds = new Holds(clock);
  const started: string[] = [];
  const held = (name: string) => ({ startStream: () => void started.push(`${name} at ${clock.now()}`) });
  return { clock, holds, started, held };
}

test("lets go after half a second at least and a whole one at most, each once", () => {
  const { clock, holds, started, held } = setUp();
  holds.add(held("first"));
  clock.advance(499);
  holds.add(held("second"));
  clock.advance(200);
  holds.add(held("third"));
  clock.advance(5_000);
  expect(started).toEqual(["first at 1000", "second at 1000", "third at 1500"]);
});

test("what was answered in time is not let go, and nobody waits for nothing", () => {
  const { clock, holds, started, held } = setUp();
  const [quick, slower] = [held("quick"), held("slower")];
  holds.add(quick);
  holds.delete(quick);
  holds.add(slower);
  clock.advance(700);
  holds.delete(slower);
  clock.advance(5_000);
  expect(started).toEqual([]);
  expect(clock.pending).toBe(0);
});
