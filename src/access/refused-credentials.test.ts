import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { type EngineEvent, Events } from "../kernel/events.ts";
import { addressReader } from "./client-address.ts";
import { credentialKind, RefusedCredentials } from "./refused-credentials.ts";

const MINUTE = 60_000;
const from = (remoteAddress: string) => ({ headers: {}, socket: { remoteAddress } }) as IncomingMessage;

function counting() {
  const clock = new ManualClock();
  const events = new Events();
  const seen: EngineEvent[] = [];
  events.on((event) => void seen.push(event));
  return { clock, seen, refused: new RefusedCredentials({ events, clock }, addressReader([])) };
}

test("the first refusal is reported at once, equal ones of the minute as one event", () => {
  const { clock, seen, refused } = counting();
  for (let at = 0; at < 40; at += 1) refused.limit(from("192.0.2.1"), { by: "key", endpoint: "one" });
  refused.limit(from("192.0.2.2"), { by: "key", endpoint: "one" });
  refused.count(from("2001:db8::1"), { by: "cookie" });
  refused.count(from("2001:db8::2"), { by: "cookie" });
  expect(seen).toMatchObject([
    { type: "credential", by: "key", count: 1, address: "192.0.2.1", endpoint: "one" },
    { count: 1, address: "192.0.2.2" },
    { by: "cookie", count: 1, address: "2001:db8:0:0" },
  ]);
  clock.advance(MINUTE);
  expect(seen.slice(3)).toMatchObject([
    { by: "key", count: 39, address: "192.0.2.1", endpoint: "one" },
    { by: "cookie", count: 1 },
  ]);
  clock.advance(MINUTE);
  expect(seen).toHaveLength(5);
});

test("thousands of networks cause a bounded number of events, and all are counted", () => {
  const { seen, refused } = counting();
  for (let at = 0; at < 5_000; at += 1)
    refused.limit(from(`10.0.${at >> 8}.${at & 255}`), { by: "token", endpoint: `e${at}` });
  refused.flush();
  expect(seen.length).toBeLessThan(300);
  const counts = seen.map((event) => (event.type === "credential" ? event.count : 0));
  expect(counts.reduce((sum, count) => sum + count)).toBe(5_000);
});

test("a network may guess fifty times in fifteen minutes; cookies and others are not limited with it", () => {
  const { clock, refused } = counting();
  const guess = (address = "192.0.2.1") => refused.limit(from(address), { by: "key" });
  for (let at = 0; at < 50; at += 1) expect(guess()).toBeUndefined();
  clock.advance(MINUTE);
  expect(guess()).toBe(14 * 60);
  expect(guess("192.0.2.2")).toBeUndefined();
  clock.advance(14 * MINUTE);
  expect(guess()).toBeUndefined();
});

test("a key is recognized by its header or its beginning", () => {
  expect(credentialKind({ headers: { "x-api-key": "a" } })).toBe("key");
  expect(credentialKind({ headers: { authorization: "Bearer mmcp_1" } })).toBe("key");
  expect(credentialKind({ headers: { authorization: "Bearer a.b.c" } })).toBe("token");
});
