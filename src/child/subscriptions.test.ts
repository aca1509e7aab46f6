import fc from "fast-check";
import { expect, test } from "vitest";
import type { Uplink } from "../kernel/call.ts";
import { Subscriptions } from "./subscriptions.ts";

const nobody: Uplink = { notify: () => {}, request: () => Promise.reject(new Error("nobody there")) };

test("counts once the child has agreed, is heard from the beginning", () => {
  const all = new Subscriptions();
  all.add("x://1", "a", nobody);
  expect([all.has("x://1"), all.standing(), all.of("x://1")]).toEqual([false, [], [nobody]]);
  all.agreed("x://1", "a");
  expect([all.has("x://1"), all.standing()]).toEqual([true, ["x://1"]]);
  // Asked for again it stands all the time.
  all.add("x://1", "a", nobody);
  expect(all.has("x://1")).toBe(true);
});

test("a part of what was subscribed to counts, what only begins alike does not", () => {
  const all = new Subscriptions();
  all.add("x://dir", "a", nobody);
  all.add("y://", "b", nobody);
  expect(all.of("x://dir/file")).toHaveLength(1);
  expect(all.of("x://directory")).toHaveLength(0);
  expect(all.of("x://")).toHaveLength(0);
  expect(all.of("y://any/thing")).toHaveLength(1);
});

const step = fc.record({
  what: fc.constantFrom("add", "agreed", "remove", "leave"),
  uri: fc.constantFrom("x://1", "x://2", "x://3"),
  session: fc.constantFrom("a", "b", "c"),
});

test("whoever subscribed is heard, and leaving names exactly what nobody else listens to", () => {
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
        else if (what === "agreed") all.agreed(uri, session);
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
