import { expect, test } from "vitest";
import { ManualClock } from "../kernel/clock.ts";
import { type EngineEvent, Events } from "../kernel/events.ts";
import { connectionReporter } from "./connection-events.ts";
import { ChildFailure } from "./link.ts";

function setUp(restart = false) {
  const clock = new ManualClock();
  const events = new Events();
  const heard: object[] = [];
  const listen = () =>
    events.on((event: EngineEvent) => {
      const { at: _, ...rest } = event;
      heard.push(rest);
    });
  const report = connectionReporter({ events, clock, server: "x", restart });
  return { clock, heard, listen, report };
}
const base = { type: "connection", server: "x" };

test("a connection that ends reports how long it was connected, once", () => {
  const { clock, heard, listen, report } = setUp();
  listen();
  report("connecting");
  report("started", { pid: 7 });
  report("connected", { pid: 7 });
  clock.advance(500);
  report("failed", { pid: 7, failure: new Error("it crashed") });
  report("closed", { pid: 7 });
  expect(heard).toEqual([
    { ...base, state: "connecting" },
    { ...base, state: "started", pid: 7 },
    { ...base, state: "connected", pid: 7 },
    { ...base, state: "failed", pid: 7, reason: "it crashed", durationMs: 500 },
    { ...base, state: "closed", pid: 7 },
  ]);
});

test("a restart is reported with the connect, and a required login with the failure", () => {
  const { heard, listen, report } = setUp(true);
  report("connecting");
  listen();
  report("connecting");
  report("failed", { failure: new ChildFailure("auth", "401") });
  expect(heard).toEqual([
    { ...base, state: "connecting", restart: true },
    { ...base, state: "failed", reason: "401", login: true },
  ]);
});
