import fc from "fast-check";
import { expect, test } from "vitest";
import { type LayerStep, newTrail, type Trail } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import type { CallRow } from "../call-schema.ts";
import { RecentCalls } from "./recent-calls.ts";

const MOST = 1_000;
const ROW = { tool: "t" } as CallRow;

function ended(id: number, trail: Partial<Trail>): CallEnded {
  return { id, trail: { ...newTrail(), ...trail } } as CallEnded;
}

function summary(...call: [id: number, layers: readonly LayerStep[], sent: Raw | undefined]): string {
  return JSON.stringify([...call.slice(0, 2), String(call[2])]);
}

const layer = fc.record({
  use: fc.string(),
  ms: fc.nat(9),
  outcome: fc.constantFrom("passed" as const, "refused" as const, "answered" as const),
});
const trailOf = fc.record({
  layers: fc.array(layer, { maxLength: 4 }),
  arguments: fc.option(fc.object().map(toRaw), { nil: undefined }),
});

test("lists the last calls unchanged, although their slots are reused", () => {
  fc.assert(
    fc.property(fc.array(trailOf, { minLength: 1, maxLength: 20 }), fc.nat(2 * MOST), (trails, more) => {
      const calls = new RecentCalls();
      const all = Array.from({ length: trails.length + more }, (_, id) => ({
        id,
        ...(trails[id % trails.length] as Pick<Trail, "layers" | "arguments">),
      }));
      for (const { id, ...trail } of all) calls.add(ROW, ended(id, trail));
      const expected = all.slice(-MOST).map(({ id, layers, arguments: sent }) => summary(id, layers, sent));
      const listed = [...calls.list()].map(({ id, layers, sent }) => summary(id, layers, sent));
      expect(listed).toEqual(expected.toReversed());
      expect(calls.get(all.length - 1)?.id).toBe(all.length - 1);
      expect(calls.get(all.length - MOST - 1)).toBeUndefined();
    }),
    { numRuns: 20 },
  );
});

test("a returned call does not change later, and large arguments are not stored", () => {
  const calls = new RecentCalls();
  const add = (id: number, sent: Raw): void => calls.add(ROW, ended(id, { arguments: sent }));
  add(0, toRaw({ a: 1 }));
  const [shown] = calls.list();
  for (let id = 1; id <= MOST; id++) add(id, toRaw({ b: 2 }));
  expect(shown?.sent).toEqual(toRaw({ a: 1 }));
  add(MOST + 1, asRaw(Buffer.from(`"${"x".repeat(4_096)}"`)));
  expect(calls.get(MOST + 1)?.sent).toBeUndefined();
});
