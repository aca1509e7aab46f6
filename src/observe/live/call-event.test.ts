import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallRow } from "../call-schema.ts";
import { rowText } from "../row-text.ts";
import { callEvent } from "./call-event.ts";

const text = fc.string({ unit: "binary", maxLength: 8 });
const maybe = <T>(what: fc.Arbitrary<T>) => fc.option(what, { nil: undefined });
const named = fc.record({ uuid: maybe(text), name: text });

const called = fc.record({
  at: fc.integer({ min: 0, max: 4e12 }),
  endpoint: named,
  surface: maybe(fc.constantFrom("meta", "openapi")),
  via: maybe(fc.constantFrom("code" as const, "chain" as const)),
  server: named,
  method: maybe(fc.constantFrom("prompts/get" as const, "resources/read" as const)),
  tool: text,
  outcome: fc.constantFrom("ok" as const, "error" as const, "refused" as const),
  code: maybe(text),
  by: maybe(text),
  durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }).map((ms) => Math.round(ms * 1_000) / 1_000),
  requestBytes: fc.nat(),
  resultBytes: fc.nat(),
  attempts: maybe(fc.nat()),
  cached: maybe(fc.constant(true as const)),
  read: maybe(text),
  traceId: maybe(fc.constant("4bf92f3577b34da6a3ce929d0e0e4736")),
});

const caller = fc.record({
  principal: fc.record({ kind: text, id: text, name: text }),
  client: maybe(fc.record({ name: text })),
  session: maybe(text),
});

test("the event of a call contains its row, whatever calls were before", () => {
  fc.assert(
    fc.property(caller, fc.array(called, { minLength: 1, maxLength: 5 }), (who, calls) => {
      for (const [id, call] of calls.entries()) {
        const row = { ...call, ...who } as CallRow;
        const event = JSON.parse(callEvent({ id, at: row.at }, rowText(row)));
        const at = new Date(row.at).toISOString();
        expect(event).toEqual(JSON.parse(JSON.stringify({ type: "call", id, ...row, at })));
      }
    }),
  );
});
