import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { HeldReplies } from "./held-replies.ts";

function setUp() {
  const clock = new ManualClock();
  const heldReplies = new HeldReplies(clock);
  const started: string[] = [];
  const held = (name: string) => ({ startStream: () => void started.push(`${name} at ${clock.now()}`) });
  return { clock, heldReplies, started, held };
}

test("each held reply starts its stream once, after 500 to 1,000 ms", () => {
  const { clock, heldReplies, started, held } = setUp();
  heldReplies.add(held("first"));
  clock.advance(499);
  heldReplies.add(held("second"));
  clock.advance(200);
  heldReplies.add(held("third"));
  clock.advance(5_000);
  expect(started).toEqual(["first at 1000", "second at 1000", "third at 1500"]);
});

test("a reply that was deleted in time does not start a stream, and no timer stays", () => {
  const { clock, heldReplies, started, held } = setUp();
  const [quick, slower] = [held("quick"), held("slower")];
  heldReplies.add(quick);
  heldReplies.delete(quick);
  heldReplies.add(slower);
  clock.advance(700);
  heldReplies.delete(slower);
  clock.advance(5_000);
  expect(started).toEqual([]);
  expect(clock.pending).toBe(0);
});
