import fc from "fast-check";
import { expect, test } from "vitest";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { callParams } from "../call-params.ts";
import { readInput } from "../input.ts";
import { readCall } from "./call-input.ts";
import { CALL } from "./tools.ts";

const raw = (text: string): Raw => Buffer.from(text) as Raw;

/** Reads the input with `readInput`, which explains errors, for comparison. */
function readSlowly(given: Raw | undefined): unknown {
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

const readQuickly = (given: Raw | undefined): unknown => {
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

test("readCall returns and refuses the same as readInput", () => {
  fc.assert(
    fc.property(members, fc.constantFrom("", " "), (written, space) => {
      const text = written.map(
        ([key, one]) => `${JSON.stringify(key)}${space}:${space}${JSON.stringify(one)}`,
      );
      const given = raw(`{${space}${text.join(`,${space}`)}${space}}`);
      expect(outcome(() => readQuickly(given))).toEqual(outcome(() => readSlowly(given)));
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
])("readCall returns or refuses the same as readInput for %s", (text) => {
  expect(outcome(() => readQuickly(raw(text)))).toEqual(outcome(() => readSlowly(raw(text))));
});

test("deeply nested arguments do not make the regular expression backtrack for long", () => {
  for (const part of ['""', "1", "{}", '{"a":""}']) {
    const args = `{"a":[{"b":[${`${part},`.repeat(50)}[[[]]]]}]}`;
    expect(readCall(raw(`{"server":"a","tool":"t","args":${args}}`)).args.toString()).toBe(args);
  }
});

test("readCall without arguments says what is missing", () => {
  expect(() => readCall(undefined)).toThrow(/"server" is missing/);
});

test("callParams writes the child's tool name and copies arguments, _meta and other members as written", () => {
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
