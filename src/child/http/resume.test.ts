import { validateHeaderValue } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginning, passed, resumeDelayMs } from "./resume.ts";

test("waits a second, then twice as long each time, up to half a minute", () => {
  const delays = [0, 1, 2, 3, 4, 5, 60, 2_000].map((attempts) => resumeDelayMs({ ...beginning(), attempts }));

  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("does what the server wishes, but never without a pause", () => {
  const first = (retryMs: number): number => resumeDelayMs({ ...beginning(), retryMs });

  expect([first(0), first(70), first(100_000)]).toEqual([10, 70, 100_000]);
});

test("the last id that was given is kept; an empty one takes it back", () => {
  const position = beginning();
  const seen = ["a", undefined, "b", "", undefined].map((id) => {
    passed(position, id);
    return position.lastEventId;
  });

  expect(seen).toEqual(["a", "a", "b", undefined, undefined]);
});

test("whatever id a server thinks of can be sent back, or is none", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (id) => {
      const position = beginning();
      passed(position, id);
      if (position.lastEventId !== undefined) validateHeaderValue("last-event-id", position.lastEventId);
    }),
  );
});
