import { expect, test } from "vitest";
import { type ConnectionState, CONNECTION_STATES as states } from "../kernel/server-status.ts";
import { shownState, transition } from "./machine.ts";

const allowed = new Set([
  "idle connecting",
  "idle active",
  "idle closed",
  "connecting active",
  "connecting failed",
  "connecting closed",
  "active idle",
  "active failed",
  "active closed",
  "failed connecting",
  "failed closed",
]);

test.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
  "the transition %s -> %s is allowed exactly if the table has it",
  (from, to) => {
    if (allowed.has(`${from} ${to}`)) expect(transition(from, to)).toBe(to);
    else expect(() => transition(from, to)).toThrow(`from ${from} to ${to}`);
  },
);

test.each<[ConnectionState[], ConnectionState]>([
  [[], "idle"],
  [["closed"], "idle"],
  [["closed", "failed"], "failed"],
  [["failed", "idle"], "idle"],
  [["failed", "idle", "connecting"], "connecting"],
  [["idle", "connecting", "failed", "active"], "active"],
])("a child with connections %j shows %s", (of, shown) => {
  expect(shownState(of)).toBe(shown);
});
