import { validateHeaderValue } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventRead, resumeDelayMs, streamStart } from "./resume.ts";

test("the delay before a stream is resumed starts at 1 s and doubles up to 30 s", () => {
  const delays = [0, 1, 2, 3, 4, 5, 60, 2_000].map((attempts) =>
    resumeDelayMs({ ...streamStart(), attempts }),
  );

  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("the delay that the server asks for is used, with a minimum of 10 ms", () => {
  const first = (retryMs: number): number => resumeDelayMs({ ...streamStart(), retryMs });

  expect([first(0), first(70), first(100_000)]).toEqual([10, 70, 100_000]);
});

test("the last event id is kept, and an empty id clears it", () => {
  const position = streamStart();
  const seen = ["a", undefined, "b", "", undefined].map((id) => {
    eventRead(position, id);
    return position.lastEventId;
  });

  expect(seen).toEqual(["a", "a", "b", undefined, undefined]);
});

test("every kept event id is a valid header value", { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (id) => {
      const position = streamStart();
      eventRead(position, id);
      if (position.lastEventId !== undefined) validateHeaderValue("last-event-id", position.lastEventId);
    }),
  );
});
