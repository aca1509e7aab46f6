import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf, assignUris, fitsTemplate, fixedLength, readAddress } from "./uris.ts";

const part = (server: string, ...names: string[]) => ({
  server,
  prefix: "server" as const,
  items: names.map((name) => ({ server, name })),
});

test("URIs are kept, but a duplicate URI and one with the metamcp scheme get an address", () => {
  const clashes: string[] = [];
  const placed = assignUris(
    [part("a", "x://1", "x://2"), part("b/c", "x://1"), part("d", "x://1", "metamcp://server/a/x://1")],
    (item, keeper) => clashes.push(`${item.server} ${keeper}`),
  );
  expect([...placed].map(([uri, { server }]) => [uri, server])).toEqual([
    ["x://1", "a"],
    ["x://2", "a"],
    ["metamcp://server/b%2Fc/x://1", "b/c"],
    ["metamcp://server/d/x://1", "d"],
    ["metamcp://server/d/metamcp://server/a/x://1", "d"],
  ]);
  expect(clashes).toEqual(["b/c a", "d a"]);
});

test("a page always has an address of its server, with the same scheme", () => {
  const placed = assignUris([part("a", "ui://x"), part("b", "ui://x", "ui://metamcp/a/x", "UI://x")]);
  expect([...placed].map(([uri, { server }]) => [uri, server])).toEqual([
    ["ui://metamcp/a/x", "a"],
    ["ui://metamcp/b/x", "b"],
    ["ui://metamcp/b/metamcp/a/x", "b"],
    ["metamcp://server/b/UI://x", "b"],
  ]);
});

test("readAddress returns the server and URI of any address", () => {
  const name = fc.string({ unit: "grapheme" });
  const uris = fc.oneof(
    name,
    name.map((rest) => `ui://${rest}`),
  );
  fc.assert(
    fc.property(name, uris, (server, uri) => {
      expect(readAddress(addressOf(server, uri))).toEqual({ server, uri });
    }),
  );
  for (const other of ["x://1", "metamcp://server/", "metamcp://server/a", "metamcp://server/%/x", ""])
    expect(readAddress(other)).toBeUndefined();
});

test("fitsTemplate matches URIs of a template, and hostile templates are cheap", () => {
  const fits = (template: string, uri: string) => fitsTemplate({ server: "s", name: template }, uri);
  expect(fits("file:///{+path}", "file:///a/b.txt")).toBe(true);
  expect(fits("x://{id}/raw{?q,r}", "x://7/raw?q=1&r=2")).toBe(true);
  expect(fits("x://{id}/raw{?q,r}", "x://7/raw")).toBe(true);
  expect(fits("x://{id}/raw", "x://7/cooked")).toBe(false);
  expect(fits("x://fixed", "x://fixed")).toBe(true);
  expect(fits(`${"{a}x".repeat(500)}y`, "x".repeat(5_000))).toBe(false);
  expect(fixedLength({ server: "s", name: "x://{id}/raw" })).toBe(8);
});
