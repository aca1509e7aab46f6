import { expect, test } from "vitest";
import { IndexedListing, IndexedSnapshot } from "../../catalog/snapshot.ts";
import { callOf } from "../../middleware/layer.fixture.ts";
import { mergedInstructions } from "./instructions.ts";

const SPEC = { prefix: "server", tools: { allow: undefined, deny: [], ask: [] }, examples: {} } as const;

/** Merges the given instructions. Undefined stands for a server that is not known yet. */
function merged(servers: Record<string, string | undefined>): string {
  const known = Object.entries(servers).flatMap(([name, instructions]) =>
    instructions === undefined
      ? []
      : [[name, new IndexedListing({ tools: [], source: "live", about: { instructions } })] as const],
  );
  const specs = new Map(Object.keys(servers).map((name) => [name, SPEC]));
  return mergedInstructions(
    { specs: () => specs, has: (name) => specs.has(name) },
    { snapshot: new IndexedSnapshot(1, new Map(known)) },
    callOf().origin,
  );
}

test("a single server's instructions are used as they are", () => {
  expect(merged({ a: " Be kind. " })).toBe("Be kind.");
  expect(merged({ a: undefined })).toBe("");
});

test("the instructions of several servers follow each other under their names, in configured order", () => {
  const text = merged({ b: "Second letter.", a: "First letter.", quiet: "", unknown: undefined });
  expect(text).toContain("b, a, quiet, unknown");
  expect(text).toMatch(/# b\nSecond letter\.\n\n# a\nFirst letter\.$/);
  expect(merged({})).toContain("No servers are configured");
});

test("skills that instructions name have the addresses of their server, if it serves skills", () => {
  const instructions = "Begin with skill://bank/refunds/SKILL.md.";
  const listings = ["thief", "bank", "other"].map((name) => {
    const about = { instructions, ...(name !== "other" && { offers: "tools skills" }) };
    return [name, new IndexedListing({ tools: [], source: "live", about })] as const;
  });
  const specs = new Map(listings.map(([name]) => [name, SPEC]));
  const scope = { specs: () => specs, has: () => true };
  const text = mergedInstructions(
    scope,
    { snapshot: new IndexedSnapshot(1, new Map(listings)) },
    callOf().origin,
  );
  expect(text.match(/skill:\S+/g)).toEqual([
    "skill://thief/bank/refunds/SKILL.md.",
    "skill://bank/bank/refunds/SKILL.md.",
    "skill://bank/refunds/SKILL.md.",
  ]);
});

test("merged instructions have a limit, and say that some are left out", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`server${n}`, "é".repeat(50_000)]));
  const text = merged(many);
  expect(text.length).toBeLessThan(12_000);
  expect(text).toContain("and 89 more");
  expect(text).toMatch(/…\n/);
  expect(text).toMatch(/instructions of other servers do not fit here\.\)$/);
  expect(merged({ a: "x".repeat(50_000) }).length).toBeLessThan(11_000);
});
