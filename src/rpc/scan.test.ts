import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import { FULL } from "../../test/support/full.ts";
import { mutate, Random, randomJson, randomSpace } from "../../test/support/random-json.ts";
import { asRaw } from "../kernel/raw.ts";
import type { Malformed, Message } from "./message.ts";
import { readKnownMessage, readMessage, withoutLineBreaks } from "./scan.ts";

/** The environment variable sets another number. The first lines are always the same. */
const FUZZED_LINES = Number(process.env["FUZZED_LINES"] ?? (FULL ? 30_000 : 10_000));

const read = (text: string): Message | Malformed => readMessage(Buffer.from(text));

/** The message with its bytes as text. */
function shown(message: Message | Malformed): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(message).map(([key, value]) => [key, Buffer.isBuffer(value) ? value.toString() : value]),
  );
}

describe("messages", () => {
  test("keep the id and params of a request as written", () => {
    expect(
      shown(
        read(' { "params" : {"a":1.0} ,"method":"m","id": 12345678901234567890, "jsonrpc":"2.0","x":[] } '),
      ),
    ).toEqual({
      kind: "request",
      id: "12345678901234567890",
      method: "m",
      params: '{"a":1.0}',
    });
  });

  test.each([
    ['{"jsonrpc":"2.0","method":"m"}', { kind: "notification", method: "m", params: undefined }],
    [
      '{"jsonrpc":"2.0","method":"m","params":null}',
      { kind: "notification", method: "m", params: undefined },
    ],
    ['{"jsonrpc":"2.0","id":"a\\u0062","result":null}', { kind: "result", id: '"a\\u0062"', result: "null" }],
    ['{"jsonrpc":"2.0","id":1,"error":{}}', { kind: "error", id: "1", error: "{}" }],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', { kind: "error", id: undefined, error: "{}" }],
    ['{"jsonrpc":"2.0","error":{}}', { kind: "error", id: undefined, error: "{}" }],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":null}', { kind: "result", id: "1", result: "{}" }],
    [
      '{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}}',
      { kind: "error", id: "1", error: '{"code":1}' },
    ],
  ])("are read from %s", (text, expected) => {
    expect(shown(read(text))).toEqual(expected);
  });

  test.each([
    ["[]", undefined, undefined],
    ['[{"jsonrpc":"2.0","id":1,"method":"m"}]', undefined, undefined],
    ["5", undefined, undefined],
    ["{}", undefined, undefined],
    ['{"jsonrpc":"2.0","id":1}', "1", undefined],
    ['{"id":1,"method":"m"}', "1", "request"],
    ['{"jsonrpc":2.0,"id":1,"method":"m"}', "1", "request"],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', undefined, "request"],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', undefined, "request"],
    ['{"jsonrpc":"2.0","id":[1],"result":{}}', undefined, "answer"],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', undefined, "answer"],
    ['{"jsonrpc":"2.0","result":{}}', undefined, "answer"],
    ['{"jsonrpc":"2.0","id":1,"method":5}', "1", "request"],
    [`{"jsonrpc":"2.0","id":1,"method":"${"m".repeat(1_024)}"}`, "1", "request"],
    ['{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}', "1", "request"],
    ['{"jsonrpc":"2.0","id":1,"method":"m","result":{}}', "1", "request"],
    ['{"jsonrpc":"2.0","id":1,"error":"bad"}', "1", "answer"],
    ['{"jsonrpc":"2.0","id":1,"error":null}', "1", "answer"],
  ])("are not accepted as %s", (text, id, meant) => {
    expect(shown(read(text))).toMatchObject({ kind: "malformed", code: -32600, id, meant });
  });

  test("may have keys with escapes, and of duplicate keys the last counts", () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"result":{"id":7},"\\u0069d":2,"res\\u0075lt":[],"nested":{"id":9}}';
    expect(shown(read(text))).toEqual({ kind: "result", id: "2", result: "[]" });
  });

  test("do not take members of nested objects for their own", () => {
    const text = '{"result":{},"id":2,"x":{"a":1,"id":3},"jsonrpc":"2.0","id":1}';
    expect(shown(read(text))).toEqual({ kind: "result", id: "1", result: "{}" });
  });

  test("have a decoded method", () => {
    expect(read('{"jsonrpc":"2.0","method":"a\\u002fb\\n"}')).toMatchObject({ method: "a/b\n" });
  });
});

describe("a malformed message", () => {
  test("that is not UTF-8 is reported with its id", () => {
    const line = Buffer.from('{"jsonrpc":"2.0","result":{"t":"?"},"id":4}');
    line[line.indexOf("?")] = 0xff;
    expect(shown(readMessage(line))).toMatchObject({
      code: -32700,
      reason: "not UTF-8",
      id: "4",
      meant: "answer",
    });
  });

  test("that is not JSON is reported with its id, at any position", () => {
    expect(shown(read('{"jsonrpc":"2.0","result":{"a":1,},"id":"x"}'))).toMatchObject({
      id: '"x"',
      meant: "answer",
    });
    expect(shown(read('{"jsonrpc":"2.0","id":3,"method":"m","params":{'))).toMatchObject({
      id: "3",
      meant: "request",
    });
  });

  test("that is not UTF-8 has no id if that is not UTF-8 either", () => {
    const line = Buffer.from('{"jsonrpc":"2.0","method":"m","id":"?"}');
    line[line.indexOf("?")] = 0xff;
    expect(readMessage(line)).toMatchObject({ code: -32700, id: undefined, meant: "request" });
  });

  test("with very many members is not searched to the end", () => {
    const broken = (members: number): string =>
      `{"a":[1,],${'"b":[{"id":1}],'.repeat(members)}"id":7,"method":"m"}`;
    expect(shown(read(broken(900)))).toMatchObject({ kind: "malformed", id: "7", meant: "request" });
    const unknown = { kind: "malformed", id: undefined, meant: undefined };
    expect(shown(read(broken(1_100)))).toMatchObject(unknown);
    expect(shown(read(`[${broken(0)}`))).toMatchObject(unknown);
  });

  test("that is a log line has no id", () => {
    expect(read("Server listening on stdio")).toMatchObject({
      code: -32700,
      id: undefined,
      meant: undefined,
    });
  });

  test("has more than 1,000 levels of nesting", () => {
    const nested = (depth: number): string =>
      `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    expect(read(nested(1_000)).kind).toBe("result");
    expect(read(nested(1_001))).toMatchObject({
      kind: "malformed",
      code: -32700,
      reason: "not JSON, or nested too deeply, at byte 1033",
    });
    expect(read(nested(1_000_000))).toMatchObject({ kind: "malformed", code: -32700 });
  });

  test("is not one with lone surrogates as escapes", () => {
    expect(read('{"jsonrpc":"2.0","id":1,"result":"\\ud800"}').kind).toBe("result");
  });
});

describe("line breaks", () => {
  test("between tokens become spaces", () => {
    const message = read('{\r\n"jsonrpc": "2.0",\n"id":1,"result": {\n  "a": [1,\r2]\n}\n}\n');
    expect(shown(message)).toEqual({ kind: "result", id: "1", result: '{   "a": [1, 2] }' });
  });

  test("inside strings are invalid", () => {
    expect(read('{"jsonrpc":"2.0","id":1,"result":"a\nb"}').kind).toBe("malformed");
    expect(read('{"jsonrpc":"2.0","id":1,"result":"a\rb"}').kind).toBe("malformed");
  });

  test("are replaced in a copy, not in the received bytes", () => {
    const body = Buffer.from('{"jsonrpc":"2.0",\n"id":1,"result":{}}');
    const before = Buffer.from(body);
    readMessage(body);
    expect(body.equals(before)).toBe(true);
  });
});

describe("readMessage compared with JSON.parse", () => {
  /** The kind of a message by its parsed value; undefined if it is malformed. */
  function kindOf(value: unknown): string | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
    const usable = typeof id === "string" || typeof id === "number";
    const object = typeof error === "object" && error !== null && !Array.isArray(error);
    if (jsonrpc !== "2.0" || !(usable || id === undefined || id === null)) return undefined;
    if (method !== undefined) {
      if (typeof method !== "string" || id === null || result !== undefined || error !== undefined)
        return undefined;
      if (params !== undefined && typeof params !== "object") return undefined;
      return usable ? "request" : "notification";
    }
    if (object) return "error";
    if (error !== undefined && !(error === null && result !== undefined)) return undefined;
    return result !== undefined && usable ? "result" : undefined;
  }

  /** Calls the slow `expect` only for differences. */
  function same(line: Buffer, actual: unknown, expected: unknown): void {
    if (actual !== expected)
      expect({ line: line.toString(), actual }).toEqual({ line: line.toString(), actual: expected });
  }

  function check(line: Buffer): string {
    const message = readMessage(line);
    const code = message.kind === "malformed" ? message.code : 0;
    let value: unknown;
    try {
      value = JSON.parse(line.toString());
      if (!isUtf8(line)) throw new SyntaxError("not UTF-8");
    } catch {
      same(line, code, -32700);
      return "broken";
    }
    const kind = kindOf(value) ?? "malformed";
    same(line, message.kind, kind);
    const known = readKnownMessage(asRaw(withoutLineBreaks(line)));
    same(line, JSON.stringify(shown(known)), JSON.stringify(shown(message)));
    same(line, code, kind === "malformed" ? -32600 : 0);
    if (message.kind === "malformed") return kind;
    for (const [key, span] of Object.entries(message)) {
      const expected = (value as Record<string, unknown>)[key];
      if (key === "method") same(line, span, expected);
      if (!Buffer.isBuffer(span)) continue;
      same(line, JSON.stringify(JSON.parse(span.toString())), JSON.stringify(expected));
      same(line, span.toString(), span.toString().trim());
    }
    return kind;
  }

  /** A random envelope, mostly in one of the usual forms. */
  function randomLine(random: Random): string {
    const json = (): string => randomJson(random, 3);
    const usual = [
      [
        ["id", random.pick(["1", '"a"', "1.5", '"\\u0031"'])],
        ["method", '"m/x"'],
        ["params", `{"a":${json()}}`],
      ],
      [["method", '"m\\ny"']],
      [
        ["id", "7"],
        ["result", json()],
      ],
      [
        ["id", random.pick(["7", "null"])],
        ["error", `{"code":1,"message":${json()}}`],
      ],
    ];
    const members = [["jsonrpc", '"2.0"'], ...random.pick(usual)];
    for (let n = random.int(3); n > 0; n--) {
      const name = random.pick([
        "x",
        "id",
        "resul",
        "result",
        "params",
        "error",
        "m\\u0065thod",
        "\\u0069d",
        "__proto__",
        "jsonrpc",
      ]);
      if (random.chance(2)) members.push([name, json()]);
    }
    const order = members
      .map((member) => ({ member, rank: random.int(1_000) }))
      .sort((a, b) => a.rank - b.rank);
    const space = (): string => randomSpace(random);
    return `${space()}{${order
      .map(({ member: [name, value] }) => `${space()}"${name}"${space()}:${space()}${value}${space()}`)
      .join(",")}}${space()}`;
  }

  test("gives the same result for valid and mutated lines", { timeout: 120_000 }, () => {
    const random = new Random(20_261_115);
    const seen: Record<string, number> = {};
    for (let n = 0; n < FUZZED_LINES; n++) {
      let line = Buffer.from(randomLine(random));
      if (random.chance(2)) line = Buffer.from(mutate(random, line));
      const kind = check(line);
      seen[kind] = (seen[kind] ?? 0) + 1;
    }
    for (const kind of ["request", "notification", "result", "error", "malformed", "broken"]) {
      expect(seen[kind], kind).toBeGreaterThan(500);
    }
  });

  /** A line in the usual form: without spaces, with id and version before or after the payload. */
  function usualLine(random: Random): string {
    const payload = `{"a":${randomJson(random, 5)}}`;
    const id = random.pick(["0", "7", '"a"', '"ж"', "1234567890123456", '"\\n"', "01", "null"]);
    const start = random.pick(['"method":"m/x","params"', '"result"', '"method":"ö","params"']);
    const frame = `"jsonrpc":"2.0","id":${id}`;
    const content = `${start}:${random.chance(2) ? JSON.stringify(JSON.parse(payload)) : payload}`;
    return random.pick([
      `{${frame},${content}}`,
      `{${content},${frame}}`,
      `{${frame},${content},${frame}}`,
      `{${content}}`,
    ]);
  }

  test("gives the same result for short and long lines in the usual form", { timeout: 120_000 }, () => {
    const random = new Random(20_261_117);
    const seen: Record<string, number> = {};
    for (let n = 0; n < FUZZED_LINES; n++) {
      let line = Buffer.from(usualLine(random));
      if (random.chance(2)) line = Buffer.from(mutate(random, line));
      const kind = check(line);
      seen[kind] = (seen[kind] ?? 0) + 1;
    }
    for (const kind of ["request", "result", "malformed", "broken"])
      expect(seen[kind], kind).toBeGreaterThan(500);
  });

  test.each([
    '{"a":[1,]}',
    '{"a":1,}',
    '{"a":[,1]}',
    "{,}",
    '{"a":1"b":2}',
    '{"a":[1 2]}',
    '{"a":[}]}',
    '{"a":{]}',
    "{a:1}",
    '{"a"}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":.5}',
    '{"a":-}',
    '{"a":1e}',
    '{"a":tru}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":"\u0001"}',
    '{"\u0001":1}',
  ])("rejects %j at any position", (payload) => {
    for (const inside of [payload, `{"b":${payload}}`, `{"b":[${payload}]}`, `{"b":[{"c":${payload}}]}`]) {
      expect(check(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${inside}}`))).toBe("broken");
      expect(check(Buffer.from(`{"result":${inside},"jsonrpc":"2.0","id":1}`))).toBe("broken");
    }
  });

  test("rejects a line with an error at its end without backtracking", () => {
    const many = (value: string, end: string): string =>
      `{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":[${`${value},`.repeat(150)}${end}]}]}}`;
    for (const value of ['""', "1", "11", "{}", "[]", '"\\n"', '{"a":1}'])
      for (const end of ["x", "[[[]]]", '"\u0000"']) check(Buffer.from(many(value, end)));
  });

  test("reads views of a larger buffer at every alignment, with special bytes at every position of a long string", () => {
    const around = Buffer.alloc(400, 0x22);
    for (const c of [
      0x00, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x61, 0x7f, 0x80, 0xa2, 0xdc, 0xff,
    ]) {
      for (let at = 0; at < 48; at++) {
        const text = `{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(48)}"}`;
        const offset = at % 7;
        around.fill(0x22).write(text, offset);
        const line = around.subarray(offset, offset + text.length);
        line[34 + at] = c;
        check(line);
      }
    }
  });
});
