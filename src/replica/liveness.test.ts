import { expect, test } from "vitest";
import { DEAD_MS, isDead, LEASE_MS, REFUSING_DEAD_MS } from "./liveness.ts";

const settledMs = 60_000;

test.each([
  { silentMs: 0, refuses: false, dead: false },
  { silentMs: DEAD_MS - 1, refuses: false, dead: false },
  { silentMs: DEAD_MS, refuses: false, dead: true },
  { silentMs: 0, refuses: true, dead: false },
  { silentMs: REFUSING_DEAD_MS - 1, refuses: true, dead: false },
  { silentMs: REFUSING_DEAD_MS, refuses: true, dead: true },
])("silent for $silentMs ms, refuses: $refuses", ({ dead, ...sighting }) => {
  expect(isDead({ ...sighting, settledMs })).toBe(dead);
});

test("nobody is dead right after the database came back, when all rows are old", () => {
  const silentMs = 3_600_000;
  expect(isDead({ silentMs, refuses: true, settledMs: 0 })).toBe(false);
  expect(isDead({ silentMs, refuses: false, settledMs: 2_100 })).toBe(false);
  expect(isDead({ silentMs, refuses: false, settledMs: 4_000 })).toBe(true);
});

test("a replica doubts its sessions before anybody can have taken them", () => {
  expect(LEASE_MS).toBeLessThan(REFUSING_DEAD_MS);
});
