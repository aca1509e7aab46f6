import fc from "fast-check";
import { expect, test } from "vitest";
import { newTrail, type Origin } from "../../kernel/call.ts";
import type { CallEnded } from "../../kernel/events.ts";
import { CallGroups } from "../call-groups.ts";
import type { CallRow } from "../call-schema.ts";
import { TextBuffer } from "../text-buffer.ts";
import { writeSpans } from "./spans.ts";

const text = fc.string({ unit: "binary", maxLength: 8 });
const maybe = <T>(what: fc.Arbitrary<T>) => fc.option(what, { nil: undefined });
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

const called = fc.record({
  method: maybe(fc.constantFrom("prompts/get" as const, "resources/read" as const)),
  tool: text,
  server: text,
  outcome: fc.constantFrom("ok" as const, "error" as const, "refused" as const),
  code: maybe(text),
  rpcCode: maybe(fc.integer()),
  via: maybe(fc.constantFrom("code" as const, "chain" as const)),
  requestId: maybe(text),
  state: maybe(text),
  parentId: maybe(fc.constant("00f067aa0ba902b7")),
  at: fc.integer({ min: 1.1e12, max: 4e12 }),
  durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }).map((ms) => Math.round(ms * 1_000) / 1_000),
  reached: fc.boolean(),
});

test("any call gives one or two valid spans with its attributes", () => {
  const origin = { protocolVersion: "2025-11-25" } as Origin;
  const groups = new CallGroups({ hasTool: (_, tool) => tool.length < 4 });
  const page = new TextBuffer(1_024);
  fc.assert(
    fc.property(called, ({ requestId, state, parentId, reached, server, rpcCode, ...call }) => {
      const trail = newTrail();
      const ids = { traceId: TRACE, spanId: "a".repeat(16), childSpanId: "b".repeat(16) };
      trail.trace = {
        ...ids,
        parentId,
        sampled: true,
        state,
        baggage: undefined,
        requestId,
        overNetwork: true,
      };
      if (reached) trail.child = { from: call.at, to: call.at + 1 };
      const row = {
        ...call,
        principal: { kind: "key", id: "k", name: "k" },
        endpoint: { uuid: "e", name: "team" },
        server: { uuid: "s", name: server },
        requestBytes: 1,
        resultBytes: 2,
      } as CallRow;
      const ended = { at: call.at, origin, server: "s", trail, rpcCode } as CallEnded;
      const observed = { row, group: groups.of(row), ended };
      const count = writeSpans(page, observed, { transport: () => "pipe" });
      // The second call on the same page uses the caches.
      expect(writeSpans(page, observed, { transport: () => "pipe" })).toBe(count);
      const spans = JSON.parse(`[${page.take()}]`);
      expect(spans).toHaveLength(count * 2);
      expect(spans.slice(count)).toEqual(spans.slice(0, count));
      const [own, child] = spans.slice(0, count);
      const attributes = attributesOf(own);
      expect(own).toMatchObject({ traceId: TRACE, spanId: ids.spanId, kind: call.via ? 1 : 2 });
      expect([own.parentSpanId, own.traceState]).toEqual([parentId, state]);
      expect(own.endTimeUnixNano).toBe(`${BigInt(call.at) * 1_000_000n}`);
      const took = BigInt(Math.round((call.at - call.durationMs) * 1_000)) * 1_000n;
      expect(own.startTimeUnixNano).toBe(`${took}`);
      const method = call.method ?? "tools/call";
      expect(own.name).toBe(method === "resources/read" ? method : `${method} ${call.tool}`);
      expect(attributes).toMatchObject({ "mcp.method.name": method, "metamcp.server": server });
      expect(Object.values(attributes)).toContain(call.tool);
      expect(attributes["jsonrpc.request.id"]).toBe(call.via ? undefined : requestId);
      expect(attributes["mcp.protocol.version"]).toBe("2025-11-25");
      const status = rpcCode === undefined ? undefined : String(rpcCode);
      expect(attributes["rpc.response.status_code"]).toBe(call.outcome === "ok" ? undefined : status);
      expect("error.type" in attributes).toBe(call.outcome !== "ok");
      expect(child !== undefined).toBe(reached);
      if (!child) return;
      expect(child).toMatchObject({ parentSpanId: ids.spanId, spanId: ids.childSpanId, kind: 3 });
      expect(attributesOf(child)).toMatchObject({ "metamcp.server": server, "network.transport": "pipe" });
      // The attributes of the caller are only in the first span.
      expect(attributesOf(child)).not.toHaveProperty("metamcp.principal.id");
    }),
  );
});

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

function attributesOf({
  attributes,
}: {
  readonly attributes: readonly Attribute[];
}): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}
