// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is about them
import fc from "fast-check";
import { expect, test } from "vitest";
import { substitute } from "./variables.ts";

const env = { HOST: "example.com", EMPTY: "", lower_1: "low", NESTED: "${HOST}", DOLLAR: "$&$1" };

function run(text: string): [string, string[]] {
  const missing = new Set<string>();
  return [substitute(text, env, missing), [...missing]];
}

test.each([
  ["${HOST}", "example.com"],
  ["https://${HOST}:8080/x", "https://example.com:8080/x"],
  ["${HOST}${HOST}", "example.comexample.com"],
  ["${lower_1}", "low"],
  ["${EMPTY}", ""],
  ["${EMPTY:-d}", "d"],
  ["${HOST:-d}", "example.com"],
  ["${NOPE:-d}", "d"],
  ["${NOPE:-}", ""],
  ["${NOPE:-http://a:1/?x=$y}", "http://a:1/?x=$y"],
  ["${NESTED}", "${HOST}"],
  ["${DOLLAR}", "$&$1"],
  ["$HOST", "$HOST"],
  ["$$HOST", "$$HOST"],
  ["$${HOST}", "$example.com"],
  ["${}", "${}"],
  ["${ HOST }", "${ HOST }"],
  ["${1X}", "${1X}"],
  ["${a.b}", "${a.b}"],
  ["${HOST", "${HOST"],
  ["{HOST}", "{HOST}"],
])("%s becomes %s", (written, resolved) => {
  expect(run(written)).toEqual([resolved, []]);
});

test("missing variables are collected once each, and the prototype of the environment is not used", () => {
  expect(run("${A}-${B}-${A}")[1]).toEqual(["A", "B"]);
  expect(run("${constructor}")[1]).toEqual(["constructor"]);
});

test("text without a reference stays unchanged", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes("${"));
      expect(run(text)).toEqual([text, []]);
    }),
  );
});

test("a value is inserted unchanged at any position", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
      fc.pre(!/[${}]/.test(before + after));
      expect(substitute(`${before}\${V}${after}`, { V: value }, new Set())).toBe(before + value + after);
    }),
  );
});
