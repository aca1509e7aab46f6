import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { adminRoutes } from "../../src/admin/routes/all.ts";

test("every route that the console uses exists in the gateway", () => {
  const written = readFileSync(new URL("routes.ts", import.meta.url), "utf8");
  const used = [...written.matchAll(/^ {2}"(?:(POST|PATCH|PUT|DELETE) )?(\/\S+)":/gm)].map(
    ([, method = "GET", path]) => `${method} ${path}`,
  );
  expect(used.length).toBeGreaterThan(20);
  // Building the table calls nothing of its context, so a stub is enough.
  const known = new Set(adminRoutes(stub()).map(({ method, path }) => `${method} ${path}`));
  expect(used.filter((route) => !known.has(route))).toEqual([]);
});

function stub(): never {
  const any: unknown = new Proxy(() => any, { get: () => any });
  return any as never;
}
