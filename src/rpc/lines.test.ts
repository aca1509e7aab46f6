import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Random, randomJson } from "../../test/support/random-json.ts";
import { until } from "../../test/support/until.ts";
import { LineReader } from "./lines.ts";

function reader(limit?: number) {
  const events: string[] = [];
  const lines = new LineReader(
    {
      onLine: (line) => events.push(line.toString("latin1")),
      onTooLong: ({ id, method, bytes }) =>
        events.push(`too long: ${String(id)} ${method ? "request" : "answer"} ${bytes}`),
    },
    limit,
  );
  return { lines, events };
}

/** The events for these bytes, split into chunks of these sizes. */
function read(bytes: Buffer, sizes: () => number, limit?: number): string[] {
  const { lines, events } = reader(limit);
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    lines.push(bytes.subarray(at, at + size));
    at += size;
  }
  lines.end();
  return events;
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

describe("lines", () => {
  const stream = Buffer.concat([
    Buffer.from('{"a":"ж😀"}\n\r\n\n{"b":1}\r\nnoise\n'),
    Buffer.from([0xff, 0xfe, 0x0a, 0x00, 0x0a]),
    Buffer.from("last"),
  ]);
  const expected = [latin1('{"a":"ж😀"}'), '{"b":1}', "noise", "\u00ff\u00fe", "\0", "last"];

  test("are the same however the bytes are split", () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const sizes = [cut, stream.length];
      expect(
        read(stream, () => sizes.shift() ?? 1),
        `cut at ${cut}`,
      ).toEqual(expected);
    }
    for (const size of [1, 2, 3, 5, 1_000])
      expect(
        read(stream, () => size),
        `pieces of ${size}`,
      ).toEqual(expected);
  });

  test("are views of their chunk if they are within one", () => {
    const chunk = Buffer.from("one\ntwo\n");
    const found: Buffer[] = [];
    new LineReader({ onLine: (line) => found.push(line), onTooLong: () => {} }).push(chunk);
    expect(found.every((line) => line.buffer === chunk.buffer)).toBe(true);
  });

  test("of many parts are joined once", () => {
    const { lines, events } = reader();
    const part = Buffer.alloc(1_024, 0x61);
    for (let n = 0; n < 20_000; n++) lines.push(part);
    lines.push(Buffer.from("\n"));
    expect(events[0]?.length).toBe(20_000 * 1_024);
  });

  test("are not emitted by end() if nothing is left", () => {
    const { lines, events } = reader();
    lines.push(Buffer.from("a\n"));
    lines.end();
    lines.end();
    expect(events).toEqual(["a"]);
  });
});

describe("a message over the limit", () => {
  const big = `"${"x".repeat(200)}\\"},\\\\"`;
  test.each([
    [`{"id":17,"jsonrpc":"2.0","result":${big}}`, "17 answer"],
    [`{"jsonrpc":"2.0","result":{"id":1,"a":[${big},{"id":2}]},"id":17}`, "17 answer"],
    [`{"jsonrpc":"2.0","result":${big}, "\\u0069d" : "x\\ny" }`, '"x\\ny" answer'],
    [`{"id":1,"error":{"data":${big}},"id":-2.5}`, "-2.5 answer"],
    [`{"params":{"method":${big}},"id":3,"m\\u0065thod":"m"}`, "3 request"],
    [`{"method":"m","params":[${big}]}`, "undefined request"],
    [`{"id":null,"error":${big}}`, "undefined answer"],
    [`{"id":{"a":1},"result":${big}}`, "undefined answer"],
    [`{"x":"\\",\\"id\\":5","result":${big},"id":6}`, "6 answer"],
    [`{"${"k".repeat(3_000)}":1,"id":7,"result":${big}}`, "7 answer"],
    [`{"id":"${"k".repeat(3_000)}","result":${big}}`, "undefined answer"],
    [`{"method":"m","result":${big},"id":7}`, "7 request"],
    [`garbage without end ${big}`, "undefined answer"],
  ])("is reported with its id (case %#)", (message, expected) => {
    const bytes = Buffer.from(`{"before":1}\n${message}\n{"after":1}\n`);
    for (const size of [1, 7, 100, 10_000]) {
      expect(read(bytes, () => size, 100)).toEqual([
        '{"before":1}',
        `too long: ${expected} ${message.length}`,
        '{"after":1}',
      ]);
    }
  });

  test("is longer than the limit, not equal to it", () => {
    const line = "x".repeat(100);
    expect(read(Buffer.from(`${line}\n${line}y\n`), () => 9, 100)).toEqual([
      line,
      "too long: undefined answer 101",
    ]);
  });

  test("is reported with its id for random contents and random chunks", () => {
    const random = new Random(9);
    for (let n = 0; n < 2_000; n++) {
      const id = random.pick(["1", '"a\\"b"', "99"]);
      const members = [
        `"id":${id}`,
        `"result":[${randomJson(random)}]`,
        `"x":${randomJson(random)}`,
        `"é":${randomJson(random)}`,
      ];
      const at = random.int(members.length);
      members.push(...members.splice(0, at));
      const text = Buffer.from(`{${members.join(",")}}`);
      expect(
        read(text, () => 1 + random.int(60), 10),
        text.toString(),
      ).toEqual([`too long: ${id} answer ${text.length}`]);
    }
  });

  test("is not kept in memory", async () => {
    const { lines, events } = reader(1_000);
    let chunk: Buffer | undefined = Buffer.from("x".repeat(5_000));
    const kept = new WeakRef(chunk);
    lines.push(chunk);
    chunk = undefined;
    await until(() => {
      collectGarbage();
      return kept.deref() === undefined;
    });
    lines.push(Buffer.from("\n"));
    expect(events).toEqual(["too long: undefined answer 5000"]);
  });
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
