import { expect, test } from "vitest";
import { DEAD_MS, deadSession, ownIdleSession, sharedSession } from "./yielding-session.ts";

const session = (owner: string, idleMs: number, busy = false) => ({ owner, idleMs, busy });

test("the longest idle dead session ends, the caller's own first", () => {
  const [own, older, oldest] = [
    session("me", DEAD_MS),
    session("you", DEAD_MS + 1),
    session("you", DEAD_MS + 2),
  ];
  expect(deadSession([older, own, oldest], "me")).toBe(own);
  expect(deadSession([older, own, oldest], "she")).toBe(oldest);
});

test("a session with a stream, with an awaited answer, or used a moment ago is not dead", () => {
  const alive = [session("you", 0), session("you", 2 * DEAD_MS, true), session("me", DEAD_MS - 1)];
  expect(deadSession(alive, "me")).toBeUndefined();
});

test("a caller gets a place of whoever has most, until both have as many", () => {
  const [idle, streaming, other] = [session("you", 5), session("you", 0), session("she", 100)];
  expect(sharedSession([streaming, other, idle], "me")).toBe(idle);
  expect(sharedSession([streaming, other, idle], "she")).toBeUndefined();
  expect(sharedSession([streaming, other], "me")).toBeUndefined();
  expect(sharedSession([session("you", 9, true), streaming, other], "me")).toBe(streaming);
});

test("a caller's own session yields only if it is idle", () => {
  const [idle, idler] = [session("me", 1), session("me", 2)];
  expect(ownIdleSession([session("you", 9), idle, idler, session("me", 9, true)], "me")).toBe(idler);
  expect(ownIdleSession([session("you", 9), session("me", 0)], "me")).toBeUndefined();
});
