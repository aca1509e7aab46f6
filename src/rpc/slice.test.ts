import { describe, expect, test } from "vitest";
import { Random, randomJson, randomString } from "../../test/support/random-json.ts";
import { asRaw, fromRaw, type Raw, toRaw } from "../kernel/raw.ts";
import {
  beginningAt,
  elements,
  entries,
  isKey,
  isObject,
  isString,
  joinObject,
  mayHave,
  members,
  withFirst,
  withMember,
  withMemberDeduplicated,
} from "./slice.ts";

const raw = (text: string): Raw => asRaw(Buffer.from(text));
const texts = (found: (Raw | undefined)[]): (string | undefined)[] => found.map((span) => span?.toString());

test("the beginning of a string is that of the decoded string, wherever the cut falls", () => {
  const random = new Random(1);
  for (let n = 0; n < 2_000; n++) {
    const written = randomString(random);
    const text = JSON.parse(written) as string;
    const most = random.int(20);
    const object = raw(`{${written}:"x"}`);
    expect(beginningAt(object, 1, most)).toBe(text.slice(0, most));
    expect([
      isKey(object, 1, text),
      isKey(object, 1, text.slice(0, -1)),
      isKey(object, 1, `${text}a`),
    ]).toEqual([true, text === "", false]);
  }
});

test("a name as long as a message is compared without decoding it", () => {
  const long = "\u{1f600}".repeat(1_000_000);
  const object = raw(`{"${long}":1}`);
  const decoded = Buffer.prototype.toString;
  let most = 0;
  object.toString = (...range) => {
    const text = decoded.apply(object, range);
    most = Math.max(most, text.length);
    return text;
  };
  expect(isKey(object, 1, "\u{1f600}name")).toBe(false);
  expect(members(object, ["server", "tool", "args"])).toEqual([undefined, undefined, undefined]);
  expect(beginningAt(object, 1, 3)).toBe("\u{1f600}\ud83d");
  expect(most).toBeLessThan(100);
});

describe("members", () => {
  test("are found at the top level by decoded keys, and of duplicates the last counts", () => {
    const object = raw(
      ' { "a" : 1.0 , "b":{"c":[{"c":2}]},"\\u0063": "x\\"}" ,"a":-0 , "\\uD83D\\uDE00":[] } ',
    );
    expect(texts(members(object, ["a", "c", "b", "d", "😀"]))).toEqual([
      "-0",
      '"x\\"}"',
      '{"c":[{"c":2}]}',
      undefined,
      "[]",
    ]);
  });

  test("are found if one key is a prefix of another", () => {
    expect(texts(members(raw('{"ab":1,"a":2,"":3}'), ["a", "ab", "abc", ""]))).toEqual([
      "2",
      "1",
      undefined,
      "3",
    ]);
  });

  test("may have the key __proto__", () => {
    const object = raw('{"__proto__":{"a":1},"constructor":2}');
    expect(texts(members(object, ["__proto__", "a", "constructor", "toString"]))).toEqual([
      '{"a":1}',
      undefined,
      "2",
      undefined,
    ]);
    expect(entries(object).map(([key]) => key)).toEqual(["__proto__", "constructor"]);
  });

  test.each(["[1]", '"a"', "1", "null", "{}", " [ ] "])("do not exist in %s", (text) => {
    expect(members(raw(text), ["a"])).toEqual([undefined]);
    expect(entries(raw(text))).toEqual([]);
  });
});

describe("withMember", () => {
  test.each([
    ['{"a":1, "b" : 2 ,"c":3}', "b", "X", '{"a":1, "b" : X ,"c":3}'],
    ['{"a":1, "b" : 2 ,"c":3}', "b", undefined, '{"a":1,"c":3}'],
    ['{ "a":1, "b":2 }', "a", undefined, '{ "b":2 }'],
    ['{ "a":1, "b":2 }', "b", undefined, '{ "a":1 }'],
    ['{ "a":1 }', "a", undefined, "{  }"],
    ['{ "a":1 }', "b", "X", '{ "a":1,"b":X }'],
    ["{ }", "b", "X", '{"b":X}'],
    ["[1]", "b", "X", '{"b":X}'],
    ['{"a":1,"b":2,"\\u0061":3}', "a", "X", '{"b":2,"\\u0061":X}'],
    ['{"a":1,"a":2}', "a", undefined, "{}"],
    ['{"b":{"a":1}}', "a", "X", '{"b":{"a":1},"a":X}'],
    ['{"b":1}', "__proto__", "X", '{"b":1,"__proto__":X}'],
    ['{"b":1}', 'ä"', "X", '{"b":1,"ä\\"":X}'],
  ])("changes %s by setting %s to %s", (object, key, value, expected) => {
    const before = raw(object);
    expect(withMember(before, key, value === undefined ? undefined : raw(value)).toString()).toBe(expected);
    expect(before.toString()).toBe(object);
  });
});

test.each([
  ['{"n":1, "a" : {"x" : 1}, "b":[ 2 ] }', '{"n":X, "a" : {"x" : 1}, "b":[ 2 ] }'],
  ['{"a":1, "n":1, "\\u0061":2, "b":5, "a":3 }', '{"n":X,"b":5, "a":3 }'],
  ['{"n":1,"a":2,"n":3}', '{"a":2,"n":X}'],
  ['{"__proto__":1,"__proto__":2}', '{"__proto__":2,"n":X}'],
  ["{}", '{"n":X}'],
])("withMemberDeduplicated leaves no key twice in %s", (object, expected) => {
  expect(withMemberDeduplicated(raw(object), "n", raw("X")).toString()).toBe(expected);
});

test("joinObject leaves out undefined members", () => {
  expect(
    joinObject([
      ["a", undefined],
      ["b\n", raw("1.0")],
      ["__proto__", raw("{}")],
    ]).toString(),
  ).toBe('{"b\\n":1.0,"__proto__":{}}');
  expect(joinObject([]).toString()).toBe("{}");
});

test("isObject and isString look at the first byte that is no white space", () => {
  expect([isObject(raw(" {}")), isObject(raw("[]")), isString(raw(' "x"')), isString(raw("1"))]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

describe("slice functions compared with JSON.parse", () => {
  test("find and change members and elements of random values", () => {
    const random = new Random(4);
    for (let n = 0; n < 5_000; n++) {
      const text = randomJson(random, 4);
      const value: unknown = JSON.parse(text);
      if (Array.isArray(value)) {
        expect(elements(raw(text)).map(fromRaw), text).toEqual(value);
      } else if (typeof value === "object" && value !== null) {
        const keys = Object.keys(value);
        expect(
          members(raw(text), keys).map((span) => span && JSON.stringify(fromRaw(span))),
          text,
        ).toEqual(keys.map((key) => JSON.stringify((value as Record<string, unknown>)[key])));
        const key = random.pick([...keys, "new"]);
        const changed = fromRaw(withMember(raw(text), key, toRaw("X"))) as object;
        expect(JSON.stringify(Object.entries(changed).filter(([name]) => name !== key)), text).toBe(
          JSON.stringify(Object.entries(value).filter(([name]) => name !== key)),
        );
        expect(Object.getOwnPropertyDescriptor(changed, key)?.value, text).toBe("X");
        const without = Object.entries(fromRaw(withMember(raw(text), key, undefined)) as object);
        expect(JSON.stringify(without), text).toBe(
          JSON.stringify(Object.entries(value).filter(([name]) => name !== key)),
        );
      }
    }
  });

  test("find the end of long strings with escapes and quotes", () => {
    const random = new Random(5);
    for (let n = 0; n < 2_000; n++) {
      const strings = Array.from({ length: 3 }, () => {
        const text = Array.from({ length: random.int(8) }, () => randomString(random).slice(1, -1));
        return `"${text.join(random.pick(["", '\\"', "\\\\", "x".repeat(100)]))}"`;
      });
      expect(elements(raw(`[${strings.join(",")}]`)).map(String)).toEqual(strings);
    }
  });
});

test.each([
  ["{}", '{"x":1,"y":2}'],
  [" { } ", '{"x":1,"y":2 } '],
  ['{"a":"{"}', '{"x":1,"y":2,"a":"{"}'],
  ['{ "a":1}', '{"x":1,"y":2, "a":1}'],
])("withFirst adds members at the start of %s", (before, after) => {
  const written = withFirst(raw(before), [Buffer.from('"x":1'), Buffer.from('"y":2')]).toString();
  expect(written).toBe(after);
  expect(JSON.parse(written)).toEqual({ x: 1, y: 2, ...(JSON.parse(before) as object) });
});

test.each([
  ['{"a":1}', false],
  ['{"a":"_meta"}', true],
  ['{"_meta" :{}}', true],
  ['{"a":{"_meta":{}}}', true],
  ['{"\\u005fmeta":{}}', true],
  ['{"_metadata":{}}', false],
])("mayHave finds a key in %s if it is there", (object, may) => {
  expect(mayHave(raw(object), "_meta")).toBe(may);
});
