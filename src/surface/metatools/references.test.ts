import fc from "fast-check";
import { expect, test } from "vitest";
import { asRaw, fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { BadReference, type StepValue } from "./reference-values.ts";
import { referencesIn, resolved as resolve, withoutReferences } from "./references.ts";

const resolved = (args: Raw, given: StepValue): Raw => resolve(args, referencesIn(args), given);

/** Returns all paths into a value, with the parts they point to. */
function paths(value: unknown, path: readonly string[] = []): (readonly [readonly string[], unknown])[] {
  const below = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[path, value], ...below.flatMap(([key, part]) => paths(part, [...path, key]))];
}

const pointer = (path: readonly string[]): string =>
  ["steps/0/structured", ...path.map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"))].join("/");

test("a reference to any part of a value is replaced by that part", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const written = JSON.parse(JSON.stringify(value)) as unknown;
      for (const [path, part] of paths(written).slice(0, 50)) {
        const args = toRaw({ a: [{ deep: { $from: pointer(path) } }] });
        const made = fromRaw(resolved(args, () => toRaw(written))) as { a: { deep: unknown }[] };
        expect(JSON.stringify(made.a[0]?.deep)).toBe(JSON.stringify(part));
      }
    }),
    { numRuns: 100 },
  );
});

test("many references into one value are replaced, and the rest of the arguments stays byte for byte", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.infiniteStream(fc.nat()), (value, numbers) => {
      const written = JSON.parse(JSON.stringify(value)) as unknown;
      const all = paths(written);
      const chosen = Array.from({ length: 20 }, () => all[numbers.next().value % all.length] ?? [[], null]);
      const text = (parts: readonly string[]): string =>
        `{ "n" : 12345678901234567890,\t"s":"\\u00e9 $from", "all":[ 1.0${parts.map((part) => ` ,{"in": ${part}}`).join("")} ] }`;
      const refers = text(chosen.map(([path]) => JSON.stringify({ $from: pointer(path as string[]) })));
      const made = resolved(asRaw(Buffer.from(refers)), () => toRaw(written));
      expect(made.toString()).toBe(text(chosen.map(([, part]) => JSON.stringify(part))));
    }),
    { numRuns: 100 },
  );
});

test("many references into a long list or a large object scan it once", () => {
  const refer = (key: (n: number) => string) =>
    toRaw({ all: Array.from({ length: 256 }, (_, n) => ({ $from: `steps/0/structured/${key(n)}` })) });
  const list = asRaw(Buffer.from(`[${"0,".repeat(999_999)}7]`));
  expect(
    resolved(
      refer((n) => String(999_999 - n)),
      () => list,
    ).toString(),
  ).toMatch(/^\{"all":\[7,0,0,0.*,0\]\}$/);
  const object = toRaw(Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`k${n}`, n])));
  expect(
    fromRaw(
      resolved(
        refer((n) => `k${n}`),
        () => object,
      ),
    ),
  ).toEqual({
    all: Array.from({ length: 256 }, (_, n) => n),
  });
  expect(() =>
    resolved(
      refer((n) => String(999_999 + n)),
      () => list,
    ),
  ).toThrow(/is a list of 1000000$/);
  // The arguments may be as long as the value.
  const long = asRaw(Buffer.from(`{"all":[${"0,".repeat(999_999)}{"$from":"steps/0/structured/999999"}]}`));
  expect(resolved(long, () => list).toString()).toMatch(/0,7\]\}$/);
});

test("a long path through a large value is refused before it takes too long", () => {
  const deep = asRaw(Buffer.from(`${'{"a":'.repeat(900)}"${"x".repeat(4_000_000)}"${"}".repeat(900)}`));
  const args = toRaw({ x: { $from: `steps/0/structured${"/a".repeat(900)}` } });
  expect(() => resolved(args, () => deep)).toThrow(/read too much data/);
});

test("the arguments may be a single reference if its value is an object", () => {
  const whole = toRaw({ $from: "steps/0/structured" });
  expect(resolved(whole, () => toRaw({ a: 1 })).toString()).toBe('{"a":1}');
  for (const value of ["text", 5, [1], null])
    expect(() => resolved(whole, () => toRaw(value))).toThrow(/not an object/);
});

test("arguments without references stay the same bytes", () => {
  const written =
    '{"n":12345678901234567890, "f" : 1.0,"x":{"$from":1},"y":{"$from":"steps/0/structured","z":1},"s":"$from"}';
  const raw = asRaw(Buffer.from(written));
  expect(JSON.stringify(fromRaw(resolved(raw, () => toRaw("never"))))).toBe(
    JSON.stringify(JSON.parse(written)),
  );
  expect(resolved(raw, () => toRaw("never")).toString()).toContain("12345678901234567890");
  const plain = asRaw(Buffer.from('{"a" : [1, 2]}'));
  expect(resolved(plain, () => toRaw("never"))).toBe(plain);
});

test("referencesIn returns the position and the path of a reference", () => {
  const args = asRaw(Buffer.from('{"a/b":[0,{"\\u0024from":"#/steps/12/structured/x~1y/0"}]}'));
  expect(referencesIn(args)).toEqual([
    { text: "#/steps/12/structured/x~1y/0", step: 12, path: ["x/y", "0"], at: "/a~1b/1" },
  ]);
  expect(fromRaw(withoutReferences(args))).toEqual({ "a/b": [0, null] });
});

test.each([
  "",
  "steps",
  "steps/x/structured",
  "steps/-1/structured",
  "steps/00/structured",
  "steps/0/structured/a~2b",
  "steps/0/structured/a~",
  "steps/0/content",
  "step/0/structured",
  "steps/0",
])("referencesIn refuses %j", (text) => {
  expect(() => referencesIn(toRaw({ a: { $from: text } }))).toThrow(BadReference);
});

test.each([
  ["items/3", /items is a list of 2/],
  ["items/01", /items is a list of 2/],
  ["items/0/x", /items\/0 is a plain value/],
  ["itemz", /structured has items, more/],
  ["more/x", /structured\/more is an empty object/],
])("the error for the missing path %s describes the last existing part", (path, message) => {
  const value = toRaw({ items: [1, 2], more: {} });
  expect(() => resolved(toRaw({ a: { $from: `steps/0/structured/${path}` } }), () => value)).toThrow(message);
});

test("more than 256 references, or values of more than 64 MB, are refused", () => {
  const refer = (times: number) =>
    toRaw({ all: Array.from({ length: times }, () => ({ $from: "steps/0/structured/x" })) });
  const value = toRaw({ x: "x".repeat(1024 * 1024) });
  expect(() => resolved(refer(65), () => value)).toThrow(/more than 64 MB/);
  expect(resolved(refer(60), () => value).length).toBeGreaterThan(60 * 1024 * 1024);
  expect(referencesIn(refer(256))).toHaveLength(256);
  expect(() => referencesIn(refer(257))).toThrow(BadReference);
});
