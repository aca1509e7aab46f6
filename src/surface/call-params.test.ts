import fc from "fast-check";
import { expect, test } from "vitest";
import { fromRaw, type Raw, scalarOf } from "../kernel/raw.ts";
import { members } from "../rpc/slice.ts";
import { readParams } from "./call-params.ts";

const NAMES = ["name", "arguments", "_meta"];
const object = fc.dictionary(fc.string(), fc.jsonValue());
const usual = fc
  .tuple(fc.string(), object, fc.option(object))
  .map(([name, args, meta]) => [["name", name], ["arguments", args], ...(meta ? [["_meta", meta]] : [])]);
const odd = fc.array(
  fc.tuple(fc.constantFrom(...NAMES, "task"), fc.oneof(fc.string(), object, fc.jsonValue())),
  { maxLength: 3 },
);
const params = fc
  .oneof(
    usual,
    odd,
    fc.tuple(usual, odd).map(([first, more]) => [...first, ...more]),
  )
  .map((all) => all.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(","))
  .map((inside) => Buffer.from(`{${inside}}`) as Raw);

test("readParams finds name, arguments and _meta, and reports no other members only if there are none", () => {
  let alone = 0;
  fc.assert(
    fc.property(params, (written) => {
      const [name, args, meta] = members(written, NAMES);
      const read = readParams(written);
      expect(read).toMatchObject({ name: scalarOf(name), args, meta });
      if (read.others) return;
      alone++;
      for (const key of Object.keys(fromRaw(written) as object)) expect(NAMES).toContain(key);
    }),
    { numRuns: 1_000 },
  );
  expect(alone).toBeGreaterThan(100);
});

test("readParams returns undefined members without params", () => {
  expect(readParams(undefined)).toMatchObject({ name: undefined, args: undefined, meta: undefined });
});
