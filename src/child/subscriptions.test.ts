import fc from "fast-check";
import { expect, test } from "vitest";
import type { Uplink } from "../kernel/call.ts";
import { Subscriptions } from "./subscriptions.ts";

const nobody: Uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody there")) };

test("a subscription gets updates from the beginning, and counts once the child has confirmed it", () => {
  const all = new Subscriptions();
  all.add("x://1", "a", nobody);
  expect([all.has("x://1"), all.confirmed(), all.of("x://1")]).toEqual([false, [], [nobody]]);
  all.confirm("x://1", "a");
  expect([all.has("x://1"), all.confirmed()]).toEqual([true, ["x://1"]]);
  // Subscribing again does not reset the confirmation.
  all.add("x://1", "a", nobody);
  expect(all.has("x://1")).toBe(true);
});

test("a subscription covers resources below its URI, but not URIs that only share a prefix", () => {
  const all = new Subscriptions();
  all.add("x://dir", "a", nobody);
  all.add("y://", "b", nobody);
  expect(all.of("x://dir/file")).toHaveLength(1);
  expect(all.of("x://directory")).toHaveLength(0);
  expect(all.of("x://")).toHaveLength(0);
  expect(all.of("y://any/thing")).toHaveLength(1);
});

const step = fc.record({
  what: fc.constantFrom("add", "confirm", "remove", "leave"),
  uri: fc.constantFrom("x://1", "x://2", "x://3"),
  session: fc.constantFrom("a", "b", "c"),
});

test("each subscribed session gets updates, and leave() returns exactly the URIs without other subscribers", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const all = new Subscriptions();
      const model = new Set<string>();
      for (const { what, uri, session } of steps) {
        const others = (of: string): boolean =>
          [...model].some((one) => one.startsWith(`${of} `) && one !== `${of} ${session}`);
        const own = [...model]
          .filter((one) => one.endsWith(` ${session}`))
          .map((one) => one.split(" ")[0] ?? "");
        if (what === "add") all.add(uri, session, nobody);
        else if (what === "confirm") all.confirm(uri, session);
        else if (what === "remove") all.remove(uri, session);
        else {
          expect([...all.leave(session)].toSorted()).toEqual(own.filter((one) => !others(one)).toSorted());
          for (const one of own) model.delete(`${one} ${session}`);
        }
        if (what === "add") model.add(`${uri} ${session}`);
        if (what === "remove") model.delete(`${uri} ${session}`);
        for (const one of ["x://1", "x://2", "x://3"])
          expect(all.of(one)).toHaveLength([...model].filter((entry) => entry.startsWith(`${one} `)).length);
        expect(all.empty).toBe(model.size === 0);
      }
    }),
  );
});
