import fc from "fast-check";
import { expect, test } from "vitest";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { callParams } from "../call-params.ts";
import { readInput } from "../input.ts";
import { readCall } from "./call-input.ts";
import { CALL } from "./tools.ts";

const raw = (text: string): Raw => Buffer.from(text) as Raw;

/** The way that explains what is wrong, for comparison. */
function slowly(given: Raw | undefined): unknown {
  const input = readInput(CALL, given);
  const part = (key: string): unknown => {
    const value = input.get(key);
    return value && fromRaw(value);
  };
  return { server: part("server"), tool: part("tool"), args: part("args") ?? {} };
}

const outcome = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
};

const quickly = (given: Raw | undefined): unknown => {
  const { server, tool, args } = readCall(given);
  return { server, tool, args: fromRaw(args) };
};

const value = fc.oneof(
  fc.string(),
  fc.jsonValue(),
  fc.constant(null),
  fc.dictionary(fc.string(), fc.jsonValue()),
);
const members = fc.array(fc.tuple(fc.constantFrom("server", "tool", "args", "arg", "__proto__"), value), {
  maxLength: 5,
});

test("the quick way reads what the careful one reads, and refuses what it refuses", () => {
  fc.assert(
    fc.property(members, fc.constantFrom("", " "), (written, space) => {
      const text = written.map(
        ([key, one]) => `${JSON.stringify(key)}${space}:${space}${JSON.stringify(one)}`,
      );
      const given = raw(`{${space}${text.join(`,${space}`)}${space}}`);
      expect(outcome(() => quickly(given))).toEqual(outcome(() => slowly(given)));
    }),
  );
});

test.each([
  '{"server":"a","tool":"t"}',
  '{"server":"a","tool":"t","args":{"deep":[{"er":[{"a":"]}"}]}]}}',
  '{"server":"a","tool":"t","args":{"a":1},"args":{"b":2}}',
  '{"server":"ä","tool":"\\"t","args":{}}',
  '{"\\u0073erver":"a","tool":"t","args":{"x":1e400}}',
  '{"server":"a","tool":"t","args":null}',
  '{"server":"a","tool":"t","server":"b"}',
  '{"server":"a","tool":"t","args":[]}',
  "[]",
  "null",
])("%s", (text) => {
  expect(outcome(() => quickly(raw(text)))).toEqual(outcome(() => slowly(raw(text))));
});

test("what is deeper than most is read as soon, however many ways there were to begin", () => {
  for (const part of ['""', "1", "{}", '{"a":""}']) {
    const args = `{"a":[{"b":[${`${part},`.repeat(50)}[[[]]]]}]}`;
    expect(readCall(raw(`{"server":"a","tool":"t","args":${args}}`)).args.toString()).toBe(args);
  }
});

test("without arguments it says what is missing", () => {
  expect(() => readCall(undefined)).toThrow(/"server" is missing/);
});

test("the child gets the name of the tool, and arguments, _meta and all else as they were written", () => {
  const { args } = readCall(raw('{"server":"a","tool":"ta","args":{"n": 12345678901234567890}}'));
  expect(callParams({ tool: "ta", args }).toString()).toBe(
    '{"name":"ta","arguments":{"n": 12345678901234567890}}',
  );
  expect(callParams({ tool: "ta", args, meta: toRaw({ x: 1 }) }).toString()).toBe(
    '{"name":"ta","arguments":{"n": 12345678901234567890},"_meta":{"x":1}}',
  );
  const written = raw('{"task":{"ttl": 1e3},"name":"a__ta","arguments":{"n": 12345678901234567890}}');
  expect(JSON.parse(callParams({ tool: "ta", args, written }).toString())).toMatchObject({
    name: "ta",
    task: { ttl: 1_000 },
  });
  expect(callParams({ tool: "ta", args, written }).toString()).toContain(
    '"arguments":{"n": 12345678901234567890}',
  );
});
