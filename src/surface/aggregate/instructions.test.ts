import { expect, test } from "vitest";
import { IndexedListing, IndexedSnapshot } from "../../catalog/snapshot.ts";
import { mergedInstructions } from "./instructions.ts";

const SPEC = { prefix: "server", tools: { allow: undefined, deny: [], ask: [] }, examples: {} } as const;

/** Servers with what each says of itself; undefined for one that is not known yet. */
function merged(servers: Record<string, string | undefined>): string {
  const known = Object.entries(servers).flatMap(([name, instructions]) =>
    instructions === undefined
      ? []
      : [[name, new IndexedListing({ tools: [], source: "live", about: { instructions } })] as const],
  );
  const specs = new Map(Object.keys(servers).map((name) => [name, SPEC]));
  return mergedInstructions({ specs: () => specs }, { snapshot: new IndexedSnapshot(1, new Map(known)) });
}

test("one server alone speaks for itself", () => {
  expect(merged({ a: " Be kind. " })).toBe("Be kind.");
  expect(merged({ a: undefined })).toBe("");
});

test("of several each is heard under its name, in their order", () => {
  const text = merged({ b: "Second letter.", a: "First letter.", quiet: "", unknown: undefined });
  expect(text).toContain("b, a, quiet, unknown");
  expect(text).toMatch(/# b\nSecond letter\.\n\n# a\nFirst letter\.$/);
  expect(merged({})).toContain("No servers are configured");
});

test("whatever they say, it stays bounded, and what is left out is said", () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`server${n}`, "é".repeat(50_000)]));
  const text = merged(many);
  expect(text.length).toBeLessThan(12_000);
  expect(text).toContain("and 89 more");
  expect(text).toMatch(/…\n/);
  expect(text).toMatch(/instructions of other servers do not fit here\.\)$/);
  expect(merged({ a: "x".repeat(50_000) }).length).toBeLessThan(11_000);
});
