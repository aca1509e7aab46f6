import fc from "fast-check";
import { expect, test } from "vitest";
import { toRaw } from "../kernel/raw.ts";
import { encodeBatch, MAX_IN_BATCH, readBatch } from "../rpc/batch.ts";
import { idKey } from "../rpc/id.ts";
import type { Malformed, Message } from "../rpc/message.ts";
import { readMessage } from "../rpc/scan.ts";
import { Batch } from "./batch.ts";

function read(json: string): readonly (Message | Malformed)[] | Malformed | undefined {
  const bytes = Buffer.from(json);
  return readBatch(bytes, readMessage(bytes) as Malformed);
}

const request = (id: unknown, method = "ping") => ({ jsonrpc: "2.0", id, method });

test("readBatch accepts an array unless it is empty, too long or not JSON", () => {
  expect(read(JSON.stringify([request(1), { jsonrpc: "2.0", method: "n" }]))).toMatchObject([
    { kind: "request" },
    { kind: "notification" },
  ]);
  expect(read("[]")).toMatchObject({ kind: "malformed", code: -32600, reason: /empty/ });
  const many = Array.from({ length: MAX_IN_BATCH + 1 }, (_, id) => request(id));
  expect(read(JSON.stringify(many))).toMatchObject({ kind: "malformed", reason: /100/ });
  expect(read(JSON.stringify(many.slice(1)))).toHaveLength(MAX_IN_BATCH);
  expect(read("[1,")).toBeUndefined();
  expect(read('{"id":1}')).toBeUndefined();
});

test("a batch refuses initialize and malformed entries one by one and delivers the rest", () => {
  const messages = read(JSON.stringify([request(1, "initialize"), 7, { id: "x", method: 3 }, request(2)]));
  const delivered: string[] = [];
  let answers: readonly Message[] = [];
  const batch = new Batch(messages as Message[], (all) => {
    answers = all;
  });
  batch.deliver((message) => delivered.push(message.kind));
  expect([delivered, answers]).toEqual([["request"], []]);
  batch.take({ kind: "result", id: toRaw(2), result: toRaw({}) });
  const written = JSON.parse(Buffer.concat(encodeBatch(answers)).toString());
  expect(written).toMatchObject([
    { id: 1, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: "x", error: { code: -32600 } },
    { id: 2, result: {} },
  ]);
});

test("in any order of answers and cancellations, a batch calls back once, after its last open request", () => {
  const one = fc.record({ id: fc.integer({ min: 1, max: 5 }), cancel: fc.boolean() });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 8 }), (steps) => {
      const messages = steps.map(
        ({ id }): Message => ({ kind: "request", id: toRaw(id), method: "m", params: undefined }),
      );
      const done: (readonly Message[])[] = [];
      const batch = new Batch(messages, (answers) => void done.push(answers));
      batch.deliver(() => {});
      for (const [at, { id, cancel }] of steps.entries()) {
        expect(done).toHaveLength(0);
        if (cancel) batch.cancelled(idKey(toRaw(id)));
        else batch.take({ kind: "result", id: toRaw(id), result: toRaw(at) });
      }
      expect(done).toHaveLength(1);
      expect(done[0]).toHaveLength(steps.filter(({ cancel }) => !cancel).length);
    }),
  );
});
