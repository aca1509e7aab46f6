import { expect, test } from "vitest";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { isKept, type KeptState, keptAfter, NOTHING_KEPT, requestsFor } from "./kept-state.ts";

const after = (...requests: readonly (readonly [string, object])[]): KeptState =>
  requests.reduce((kept, [method, params]) => keptAfter(kept, method, toRaw(params) as Raw), NOTHING_KEPT);

test("the last log level and the open subscriptions are kept", () => {
  const kept = after(
    ["logging/setLevel", { level: "error" }],
    ["resources/subscribe", { uri: "a:1" }],
    ["resources/subscribe", { uri: "a:2" }],
    ["resources/subscribe", { uri: "a:1" }],
    ["resources/unsubscribe", { uri: "a:2" }],
    ["logging/setLevel", { level: "debug" }],
  );
  expect(kept).toEqual({ level: "debug", subscribed: ["a:1"] });
  expect(requestsFor(kept)).toEqual([
    { method: "logging/setLevel", params: toRaw({ level: "debug" }) },
    { method: "resources/subscribe", params: toRaw({ uri: "a:1" }) },
  ]);
});

test("a client that sets nothing keeps nothing", () => {
  expect(["tools/call", "resources/read", "ping"].some(isKept)).toBe(false);
  expect(requestsFor(NOTHING_KEPT)).toEqual([]);
  expect(after(["logging/setLevel", { level: 1 }], ["resources/subscribe", {}])).toEqual({});
});
