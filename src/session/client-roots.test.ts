import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { rootsOf } from "../kernel/roots.ts";
import { aborted, type Signal } from "../kernel/signal.ts";
import { ClientRoots } from "./client-roots.ts";

const answer = (...uris: string[]): Raw => toRaw({ roots: uris.map((uri) => ({ uri })) });

function setUp() {
  const clock = new ManualClock();
  const asked: ((answer: Raw) => void)[] = [];
  const request = (signal: Signal): Promise<Raw> =>
    Promise.race([new Promise<Raw>((resolve) => asked.push(resolve)), aborted(signal)]);
  return { clock, asked, roots: new ClientRoots(request, { clock, inHandshake: () => false }) };
}

test("the client is asked for its roots once, on first use", async () => {
  const { asked, roots, clock } = setUp();
  expect([roots.known, asked.length]).toEqual([undefined, 0]);
  const both = Promise.all([roots.ask(), roots.ask()]);
  asked[0]?.(answer("file:///a"));
  const [one, two] = await both;
  expect(one).toBe(two);
  expect(roots.known).toBe(one);
  expect(one).toMatchObject({ key: rootsOf(answer("file:///a")).key });
  await roots.ask();
  expect([asked.length, clock.pending]).toEqual([1, 0]);
});

test("the key of roots does not depend on their order and differs for different roots", () => {
  const key = (...uris: string[]): string => rootsOf(answer(...uris)).key;
  expect(key("file:///a", "file:///b")).toBe(key("file:///b", "file:///a"));
  expect(
    new Set([key(), key("file:///a"), rootsOf(toRaw({ roots: 7 })).key, rootsOf(toRaw(null)).key]).size,
  ).toBe(4);
});

test("changed roots are requested again, and callers that wait for the old ones get the new ones", async () => {
  const { asked, roots } = setUp();
  const first = roots.ask();
  const changed = roots.changed();
  asked[0]?.(answer("file:///old"));
  asked[1]?.(answer("file:///new"));
  expect(await first).toBe(await changed);
  expect(roots.known).toMatchObject({ key: rootsOf(answer("file:///new")).key });
});

test("a client that does not answer has no roots and is not asked again", async () => {
  const { clock, asked, roots } = setUp();
  const known = roots.ask();
  clock.advance(10_000);
  expect(await known).toMatchObject({
    key: "none",
    answer: { refusal: expect.stringContaining("did not answer") },
  });
  await roots.ask();
  expect(asked).toHaveLength(1);
});
