import { expect, test } from "vitest";
import { TEST_ORIGIN } from "../../../test/support/catalog.ts";
import type { ServerStatus } from "../../kernel/server-status.ts";
import { unavailableOf } from "./unavailable.ts";

const status = (name: string, more: Partial<ServerStatus>): ServerStatus => ({
  name,
  state: "idle",
  connected: false,
  criticality: "optional",
  ...more,
});

const scope = {
  servers: () => [
    status("known", {}),
    status("busy", { state: "active", connected: true }),
    status("slow", { state: "connecting" }),
    status("silent", { state: "connecting", reason: "npx downloads it" }),
    status("broken", { state: "failed", reason: "it exited", retryAfterMs: 1_234.5 }),
    status("mute", { state: "failed" }),
  ],
};
const unknown = [
  { server: "slow", reason: "it is still connecting" },
  { server: "silent", reason: "it is still connecting" },
];

test("unavailableOf returns failed and unknown servers with the best known reason and retryAfterMs", () => {
  expect(unavailableOf(scope, unknown, TEST_ORIGIN)).toEqual([
    { server: "slow", reason: "it is still connecting" },
    { server: "silent", reason: "npx downloads it" },
    { server: "broken", reason: "it exited", retryAfterMs: 1_235 },
    { server: "mute", reason: "it is down" },
  ]);
});

test("unavailableOf returns only the given server", () => {
  expect(unavailableOf(scope, unknown, TEST_ORIGIN, "broken").map(({ server }) => server)).toEqual([
    "broken",
  ]);
  expect(unavailableOf(scope, unknown, TEST_ORIGIN, "known")).toEqual([]);
});
