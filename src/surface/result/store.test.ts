import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { ResultStore } from "./store.ts";

const result = (bytes: number): Raw => toRaw({ content: [{ type: "text", text: "x".repeat(bytes) }] });

function open(limits?: { bytes: number; lifetimeMs: number }) {
  const clock = new ManualClock();
  const store = new ResultStore(clock, limits && { limits });
  return {
    clock,
    store,
    put: (caller: string, bytes: number) => store.put(caller, "a:b", result(bytes))?.uri ?? "",
  };
}

test("a stored result can be read only by its caller; others get the same error as for an unknown one", () => {
  const { store, put } = open();
  const uri = put("me", 10);
  expect(store.read("me", uri)).toMatchObject({ text: expect.stringContaining("xxxxxxxxxx") });
  const foreign = store.read("you", uri);
  const unknown = store.read("you", "metamcp://result/nothing");
  expect(foreign).toEqual(unknown);
  expect(foreign).toMatchObject({ missing: expect.stringMatching(/^Stored result not found or expired/) });
  expect(store.list("you")).toEqual([]);
  expect(store.list("me").map((stored) => stored.uri)).toEqual([uri]);
});

test("an expired result is removed, and the error names the tool to run again", () => {
  const { store, clock, put } = open({ bytes: 1_000_000, lifetimeMs: 60_000 });
  const uri = put("me", 10);
  clock.advance(59_999);
  expect(store.read("me", uri)).toHaveProperty("text");
  clock.advance(1);
  expect(store.bytes).toBe(0);
  expect(store.read("me", uri)).toEqual({
    missing: expect.stringMatching(/expired.*Run a:b again/),
    source: "a:b",
  });
  expect(store.read("you", uri)).toMatchObject({
    missing: expect.stringMatching(/^Stored result not found or expired/),
  });
  expect(clock.pending).toBe(0);
});

test("the store drops its oldest results beyond the limit and refuses a result larger than the limit", () => {
  const { store, put } = open({ bytes: 12_000, lifetimeMs: 60_000 });
  const uris = Array.from({ length: 10 }, () => put("me", 3_000));
  expect(store.bytes).toBeLessThanOrEqual(12_000);
  const left = uris.filter((uri) => "text" in store.read("me", uri));
  expect(left).toEqual(uris.slice(-3));
  for (const bytes of [20_000, 11_900]) expect(put("me", bytes)).toBe("");
  expect(uris.filter((uri) => "text" in store.read("me", uri))).toEqual(left);
});

test("forget removes all results of a caller", () => {
  const { store, put } = open();
  const mine = put("me", 100);
  const yours = put("you", 100);
  store.forget("me");
  expect(store.read("me", mine)).toHaveProperty("missing");
  expect(store.read("you", yours)).toHaveProperty("text");
});

test("the limit counts the overhead of entries and segments", () => {
  const { store } = open({ bytes: 100_000, lifetimeMs: 60_000 });
  for (let n = 0; n < 5_000; n++) store.put("me", "a:b", toRaw({}));
  expect(store.list("me").length).toBeLessThan(500);
  const pictures = Array.from({ length: 200 }, () => ({ type: "image", data: "A".repeat(64) }));
  expect(store.put("me", "a:b", toRaw({ content: pictures }))).toBeDefined();
  expect(store.list("me").length).toBeLessThan(100);
});

test("an owner with many sessions drops its own results, not those of others", () => {
  const { store, put } = open({ bytes: 12_000, lifetimeMs: 60_000 });
  const yours = put("you", 3_000);
  const mine = Array.from({ length: 10 }, (_, at) => store.put(`session ${at}`, "a:b", result(3_000), "me"));
  expect(store.bytes).toBeLessThanOrEqual(12_000);
  expect(store.read("you", yours)).toHaveProperty("text");
  expect(store.read("session 9", mine[9]?.uri ?? "")).toHaveProperty("text");
  expect(store.read("session 0", mine[0]?.uri ?? "")).toHaveProperty("missing");
});
