import { describe, expect, test } from "vitest";
import { EventReader, encodeEvent } from "./event-stream.ts";

function read(bytes: Buffer, size: number, limit?: number) {
  const events: unknown[] = [];
  const reader = new EventReader(
    {
      onEvent: ({ event, data, id, retry }) => events.push([event, data.toString("latin1"), id, retry]),
      onTooLong: ({ id, method, bytes }) => events.push(["too long", id?.toString(), method, bytes]),
    },
    limit,
  );
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  return { events, reader };
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

describe("events", () => {
  const text = [
    "\uFEFF: a comment\n",
    "data: one\n\n",
    "event: endpoint\ndata:/messages?x=ж\n\n",
    "id: 7\nretry: 250\ndata: a\ndata:\ndata:  b\n\n",
    "event: ping\n\n",
    "id: 8\n\n",
    "data\n\n",
    "retry: soon\nid: a\0b\nunknown: x\ndata: end\n\n",
    "data: never finished\n",
  ].join("");
  const expected = [
    ["message", "one", undefined, undefined],
    ["endpoint", latin1("/messages?x=ж"), undefined, undefined],
    ["message", "a\n\n b", "7", 250],
    ["message", "", "8", 250],
    ["message", "end", "8", 250],
  ];

  test.each([
    ["LF", text],
    ["CRLF", text.replaceAll("\n", "\r\n")],
    ["CR", text.replaceAll("\n", "\r")],
  ])("are read with line ends %s, however the bytes are split", (_, stream) => {
    const bytes = Buffer.from(stream);
    for (let size = 1; size <= bytes.length; size++)
      expect(read(bytes, size).events, `${size}`).toEqual(expected);
  });

  test("are read with mixed line ends", () => {
    const bytes = Buffer.from("data: a\r\rdata: b\n\r\ndata: c\r\n\ndata: d\n\n");
    for (let size = 1; size <= bytes.length; size++) {
      expect(read(bytes, size).events.map((event) => (event as string[])[1])).toEqual(["a", "b", "c", "d"]);
    }
  });

  test("set lastId even without data, but only once they are complete", () => {
    const { reader } = read(Buffer.from("data: a\n\nid: 5\nretry: 10\n\n"), 3);
    expect([reader.lastId, reader.retry]).toEqual(["5", 10]);
    expect(read(Buffer.from("id: 5\n\nid: 6\ndata: cut"), 3).reader.lastId).toBe("5");
  });
});

describe("an event over the limit", () => {
  const big = "x".repeat(300);
  const huge = "{".repeat(1_000);
  test.each([
    [`data: {"jsonrpc":"2.0","result":"${big}","id":9}`, ["9", false]],
    [`event: message\nid: 3\ndata: {"result":\ndata: "${big}",\ndata: "id":9}`, ["9", false]],
    [`data: {"method":\ndata: "${big}","id":"a"}`, ['"a"', true]],
    [`data: {"id":4,\ndata: "result":{}\n: ${huge}\ndata: ,"x":"${big}"}`, ["4", false]],
  ])("is reported with the id of its message (case %#)", (event, expected) => {
    const bytes = Buffer.from(`data: before\n\n${event}\n\ndata: after\n\n`);
    for (const size of [1, 10, 97, 2_000]) {
      const seen = read(bytes, size, 200).events.map((event) => (event as unknown[]).slice(0, 3));
      expect(seen.map((event) => event.slice(0, 2))).toEqual([
        ["message", "before"],
        ["too long", expected[0]],
        ["message", "after"],
      ]);
      expect(seen[1]?.[2]).toBe(expected[1]);
    }
  });

  test("is not caused by a long comment", () => {
    const bytes = Buffer.from(`data: {"a":1,\n: ${huge}\ndata: "b":2}\n\n`);
    for (const size of [1, 10, 97, 2_000]) {
      expect(read(bytes, size, 200).events).toEqual([["message", '{"a":1,\n"b":2}', undefined, undefined]]);
    }
  });
});

test("EventReader reads what encodeEvent writes", () => {
  const parts = [
    ...encodeEvent([Buffer.from('{"a":'), Buffer.from("1}")], "12"),
    ...encodeEvent([Buffer.from("/messages")], undefined, "endpoint"),
  ];
  expect(read(Buffer.concat(parts), 5).events).toEqual([
    ["message", '{"a":1}', "12", undefined],
    ["endpoint", "/messages", "12", undefined],
  ]);
});
