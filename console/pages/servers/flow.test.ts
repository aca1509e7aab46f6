import { expect, test } from "vitest";
import type { ServerUpdated } from "../../api/types.ts";
import type { UpdateEvent } from "../../live/events.ts";
import { flowSteps } from "./flow.ts";

const event = (step: UpdateEvent["step"], more: Partial<UpdateEvent> = {}): UpdateEvent => ({
  type: "update",
  at: "2030-01-01T00:00:00.000Z",
  server: { uuid: "u", name: "a" },
  revision: 42,
  step,
  ...more,
});
const nameOf = (uuid: string) => ({ n1: "dev", n2: "shared" })[uuid] ?? uuid;
const ANSWER = {} as ServerUpdated;
const shown = (events: UpdateEvent[], answer?: ServerUpdated) =>
  flowSteps({ events, answer, nameOf }).map(({ state, text }) => `${state}: ${text}`);

test("flowSteps shows finished steps and the next one as busy", () => {
  expect(shown([])).toEqual(["busy: Storing"]);
  const events = [event("stored"), event("closed", { pid: 7 })];
  expect(shown(events)).toEqual([
    "done: Stored as revision 42",
    "done: Old connection closed (pid 7)",
    "busy: Reconnecting",
  ]);
  events.push(event("started", { pid: 8 }), event("connected", { toolCount: 13 }));
  events.push(event("compiled", { namespaces: ["n1", "n2"] }), event("told", { clients: 7 }));
  expect(shown(events, ANSWER).slice(2)).toEqual([
    "done: New process started (pid 8)",
    "done: Handshake, 13 tools",
    "done: Namespaces dev, shared rebuilt",
    "done: 7 clients notified",
  ]);
});

test("flowSteps shows a failure with its reason instead of the handshake", () => {
  const events = [event("stored"), event("failed", { reason: "spawn nothing ENOENT" })];
  expect(shown(events)).toEqual([
    "done: Stored as revision 42",
    "failed: Not connected: spawn nothing ENOENT",
    "busy: Rebuilding namespaces",
  ]);
});

test("flowSteps shows no busy step after the answer", () => {
  expect(shown([event("stored")], ANSWER)).toEqual(["done: Stored as revision 42"]);
});
