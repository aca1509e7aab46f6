import { expect, test } from "vitest";
import { MAX_IN_BATCH, readBatch } from "./batch.ts";
import type { Malformed, Message } from "./message.ts";
import { readMessage } from "./scan.ts";

const batchOf = (text: string) => {
  const bytes = Buffer.from(text);
  return readBatch(bytes, readMessage(bytes) as Malformed);
};
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

test("a batch may have 100 messages", () => {
  const pings = (count: number) => `[${Array(count).fill(PING).join()}]`;
  expect(batchOf(pings(MAX_IN_BATCH))).toHaveLength(MAX_IN_BATCH);
  const refused = { kind: "malformed", reason: "a batch may have 100 messages" };
  expect(batchOf(pings(MAX_IN_BATCH + 1))).toMatchObject(refused);
  expect(batchOf("[]")).toMatchObject({ kind: "malformed", reason: "a batch is empty" });
  expect(batchOf("{}")).toBeUndefined();
});

test("line breaks between the tokens of its messages become spaces", () => {
  const [request] = batchOf(
    '[{"jsonrpc":"2.0","id":1,\n"method":"m","params":{"a"\r\n:"\\n"}}]',
  ) as Message[];
  expect(String((request as { readonly params: Buffer }).params)).toBe('{"a"  :"\\n"}');
});
