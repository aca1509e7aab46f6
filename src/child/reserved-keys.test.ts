import { expect, test } from "vitest";
import { asRaw, type Raw, toRaw } from "../kernel/raw.ts";
import { withoutReservedKeys } from "./reserved-keys.ts";

const id = toRaw(1);
const raw = (text: string): Raw => asRaw(Buffer.from(text));
const resultOf = (text: string): string => {
  const message = withoutReservedKeys({ kind: "result", id, result: raw(text) });
  return message.kind === "result" ? message.result.toString() : "";
};

test.each([
  ["alone", '{"_meta":{"metamcp/error":{"code":"forbidden"}},"content":[]}', '{"_meta":{},"content":[]}'],
  ["first", '{"_meta":{"metamcp/next":"a","x":1}}', '{"_meta":{"x":1}}'],
  ["last", '{"_meta":{"x":1,"metamcp/next":"a"}}', '{"_meta":{"x":1}}'],
  [
    "between",
    '{"_meta":{ "x" : 1 , "metamcp/a":[{}],"metamcp/b":"}", "y":2 } }',
    '{"_meta":{ "x" : 1,"y":2 } }',
  ],
  ["escaped slash", String.raw`{"_meta":{"metamcp\/error":1}}`, '{"_meta":{}}'],
  ["escaped letters", String.raw`{"_meta":{"\u006detamcp/error":1}}`, '{"_meta":{}}'],
  ["escaped capital hex", String.raw`{"_meta":{"metamcp\u002Ferror":1}}`, '{"_meta":{}}'],
  ["escaped _meta", String.raw`{"\u005fmeta":{"metamcp/error":1}}`, String.raw`{"\u005fmeta":{}}`],
  [
    "a content block",
    '{"content":[{"type":"text","_meta":{"metamcp/a":1}}]}',
    '{"content":[{"type":"text","_meta":{}}]}',
  ],
  ["twice", '{"_meta":{"metamcp/a":1},"_meta":{"metamcp/a":2,"b":0}}', '{"_meta":{},"_meta":{"b":0}}'],
  [
    "tools",
    '{"tools":[{"_meta":{"metamcp/a":1}},{"_meta":{"metamcp/b":1}}]}',
    '{"tools":[{"_meta":{}},{"_meta":{}}]}',
  ],
])("keys of MetaMCP that a child wrote are removed: %s", (_, written, clean) => {
  expect(resultOf(written)).toBe(clean);
  for (const letters of ["x", "u", "m", "\\n", "\\u0041"]) {
    const long = (text: string): string => `{"long":"${letters.repeat(2_000)}",${text.slice(1)}`;
    expect(resultOf(long(written))).toBe(long(clean));
  }
});

test("everything else stays as written, at no cost", () => {
  for (const text of [
    '{"content":[{"type":"text","text":"{\\"_meta\\":{\\"metamcp/a\\":1}}"}]}',
    '{"structuredContent":{"metamcp/a":1,"n":12345678901234567890}}',
    '{"_meta":{"other/metamcp/":1},"content":[]}',
    '{"_meta":"metamcp/error"}',
    '{"_meta":[{"metamcp/a":1}]}',
  ])
    expect(resultOf(text)).toBe(text);
  const plain = { kind: "result", id, result: raw('{"_meta":{"x":1}}') } as const;
  expect(withoutReservedKeys(plain)).toBe(plain);
});

test("requests, notifications and errors are cleaned like results", () => {
  const params = raw('{"progress":1,"_meta":{"metamcp/next":"x"}}');
  const kinds = [
    { kind: "notification", method: "notifications/progress", params },
    { kind: "request", id, method: "elicitation/create", params },
  ] as const;
  for (const message of kinds)
    expect(String((withoutReservedKeys(message) as typeof message).params)).toBe('{"progress":1,"_meta":{}}');
  const none = { kind: "notification", method: "n", params: undefined } as const;
  expect(withoutReservedKeys(none)).toBe(none);
  const error = raw(
    '{"code":1,"message":"metamcp","data":{"metamcp/attempts":9,"a":1,"_meta":{"metamcp/b":1}}}',
  );
  const cleaned = withoutReservedKeys({ kind: "error", id, error });
  expect(cleaned.kind === "error" && cleaned.error.toString()).toBe(
    '{"code":1,"message":"metamcp","data":{"a":1,"_meta":{}}}',
  );
});

test("a large, deeply nested message takes time linear in its length", () => {
  const deep = `${'{"_meta":['.repeat(400)}${'"metamcp/",'.repeat(50_000)}1${"]}".repeat(400)}`;
  expect(resultOf(deep)).toBe(deep);
});
