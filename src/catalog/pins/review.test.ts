import { expect, test } from "vitest";
import { asRaw } from "../../kernel/raw.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { decodePins, encodePins, type PinEntry } from "./pin-file.ts";
import { alsoApproved, approved, type FingerprintedList, review } from "./review.ts";

const listed = (tools: Record<string, string>): FingerprintedList => ({
  of: "tools",
  identity: "id",
  key: "key",
  signs: new Map(),
  digest: JSON.stringify(tools),
  fingerprints: Object.entries(tools).map(([name, description]) =>
    fingerprintOf({ name, definition: asRaw(Buffer.from(JSON.stringify({ name, description }))) }),
  ),
});
const first = (tools: Record<string, string>): PinEntry => review(undefined, listed(tools)).entry as PinEntry;
const brief = (entry: PinEntry, tools: Record<string, string>): string[] =>
  review(entry, listed(tools)).changes.map(({ tool, kind, parts }) => [kind, tool, ...parts].join(" "));

test("the first list is trusted, and an empty list does not count as the first", () => {
  const entry = first({ a: "1", b: "2" });
  expect(review(entry, listed({ a: "1", b: "2" }))).toMatchObject({
    changes: [],
    unreported: [],
    removed: [],
  });
  expect(review(undefined, listed({})).entry).toBeUndefined();
});

test("an unchanged list is not written again, also in another order", () => {
  const entry = first({ a: "1", b: "2" });
  const again = review(entry, { ...listed({ b: "2", a: "1" }), digest: entry.digest as string });
  expect(again.entry).toBe(entry);
});

test("a change is reported once and remains a change until it is approved", () => {
  const entry = first({ a: "1", b: "2" });
  const seen = review(entry, listed({ a: "evil", b: "2" }));
  expect(seen.changes).toMatchObject([{ tool: "a", kind: "changed", parts: ["description"] }]);
  expect(seen.unreported).toHaveLength(1);
  const again = review(seen.entry, listed({ a: "evil", b: "2" }));
  expect(again).toMatchObject({ changes: [{ tool: "a" }], unreported: [] });
  expect(again.entry).toBe(seen.entry);
  // A second change is reported again; the approved version is no change.
  expect(review(seen.entry, listed({ a: "worse", b: "2" })).unreported).toHaveLength(1);
  expect(brief(seen.entry as PinEntry, { a: "1", b: "2" })).toEqual([]);
});

test("a new tool is reported but not approved, and a change of it is a change", () => {
  const seen = review(first({ a: "1" }), listed({ a: "1", n: "new" }));
  expect(seen.unreported).toMatchObject([{ tool: "n", kind: "new" }]);
  const entry = seen.entry as PinEntry;
  expect(review(entry, listed({ a: "1", n: "new" }))).toMatchObject({
    changes: [{ kind: "new" }],
    unreported: [],
  });
  expect(brief(entry, { a: "1", n: "other" })).toEqual(["changed n description"]);
});

test("a removed tool that comes back with another definition has changed", () => {
  const gone = review(first({ a: "1", b: "2" }), listed({ b: "2" }));
  expect(gone).toMatchObject({ changes: [], removed: ["a"] });
  const entry = gone.entry as PinEntry;
  expect(brief(entry, { a: "1", b: "2" })).toEqual([]);
  expect(brief(entry, { a: "evil", b: "2" })).toEqual(["changed a description"]);
});

test("an approval covers only the named tools, as they are listed", () => {
  const now = listed({ a: "x", b: "y", n: "new" });
  const entry = review(first({ a: "1", b: "2", old: "3" }), now).entry as PinEntry;
  const one = approved(entry, now, new Set(["a"]));
  expect(review(one, now).changes.map(({ tool }) => tool)).toEqual(["b", "n"]);
  expect(one.digest).toBeUndefined();
  const all = approved(one, now);
  expect(review(all, now)).toMatchObject({ changes: [], removed: ["old"] });
  expect(all.digest).toBe(now.digest);
  // Without a stored entry, tools that were not named are still not approved.
  expect(review(approved(undefined, now, new Set(["a"])), now).changes.map(({ tool }) => tool)).toEqual([
    "b",
    "n",
  ]);
});

test("a definition that is too large to store is still compared", () => {
  const entry = first({ a: "x".repeat(100_000) });
  expect(entry.tools[0]?.definition).toBeUndefined();
  expect(brief(entry, { a: "y".repeat(100_000) })).toEqual(["changed a"]);
});

test("a file of pins survives a round trip, keeps entries of other identities, and is refused as a whole if any part is invalid", () => {
  const entry = first({ a: "1", __proto__x: "2" });
  const other = { ...entry, identity: "other" };
  expect(decodePins(encodePins(entry, [other, { ...entry, tools: [] }]))).toEqual([entry, other]);
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '{"format":"metamcp pins 1"}',
    '{"format":"metamcp pins 2","entries":[]}',
    '{"format":"metamcp pins 1","entries":[null]}',
    '{"format":"metamcp pins 1","entries":[{"identity":"i","tools":[{"name":"a"}]}]}',
    '{"format":"metamcp pins 1","entries":[{"identity":"i","tools":[{"name":"a","hash":"h","fresh":false}]}]}',
    encodePins(entry, []).slice(0, -20),
  ])
    expect(() => decodePins(text), text).toThrow();
});

test("an approval counts for another list key that shows the same versions, and for nothing else of it", () => {
  const evil = listed({ a: "evil", b: "worse", n: "new" });
  const seen = { ...(review(first({ a: "1", b: "2" }), evil).entry as PinEntry), key: "other" };
  const same = alsoApproved(seen, evil, new Set(["a", "n"]));
  expect(brief(same, { a: "evil", b: "worse", n: "new" })).toEqual(["changed b description"]);
  // The other key shows other versions: what was approved says nothing about them.
  const others = alsoApproved(seen, listed({ a: "else", n: "else" }));
  expect(brief(others, { a: "evil", b: "2", n: "new" })).toEqual(["changed a description", "new n"]);
  expect(alsoApproved(seen, { ...evil, identity: "another server" })).toBe(seen);
});

const HARD = { sign: "hide", severity: "hard", path: "description", start: 0, end: 1, excerpt: "x" } as const;
/** The same list, in which these tools have a hard sign. */
const suspicious = (tools: Record<string, string>, ...names: string[]): FingerprintedList => ({
  ...listed(tools),
  signs: new Map(names.map((name) => [name, [HARD]])),
});

test("the first list is not trusted where it has a hard sign", () => {
  const seen = review(undefined, suspicious({ a: "1", b: "2" }, "a"));
  expect(seen.changes).toMatchObject([{ tool: "a", kind: "suspect", signs: [HARD] }]);
  expect(seen.unreported).toHaveLength(1);
  expect(seen.entry?.digest).toBeUndefined();
  // Reported once. It stays suspect, also if the sign depended on what else was known.
  const again = review(seen.entry, listed({ a: "1", b: "2" }));
  expect(again).toMatchObject({ changes: [{ tool: "a", kind: "suspect" }], unreported: [] });
  expect(again.entry).toBe(seen.entry);
});

test("an approval is for the form that was approved: the sign does not count any more, in another form it does", () => {
  const { entry } = review(undefined, suspicious({ a: "1" }, "a"));
  const done = approved(entry, suspicious({ a: "1" }, "a"));
  expect(review(done, suspicious({ a: "1" }, "a")).changes).toEqual([]);
  expect(review(done, suspicious({ a: "2" }, "a")).changes).toMatchObject([
    { tool: "a", kind: "changed", signs: [HARD] },
  ]);
});

test("tools that were trusted before the rules knew a sign are suspect then", () => {
  expect(review(first({ a: "1" }), suspicious({ a: "1" }, "a")).changes).toMatchObject([{ kind: "suspect" }]);
});

test("an approval for one list key holds for the others, which saw the same form", () => {
  const list = suspicious({ a: "1" }, "a");
  const other = { ...(review(undefined, list).entry as PinEntry), key: "other" };
  expect(review(alsoApproved(other, list), list).changes).toEqual([]);
  // For a key that comes later, too.
  const later = { ...list, key: "later" };
  expect(review(undefined, later, [approved(other, list)]).changes).toEqual([]);
});
