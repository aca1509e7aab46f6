import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { Listing } from "../catalog/catalog.ts";
import { type Compiled, compile } from "./compile.ts";
import { contextAt } from "./context.fixture.ts";
import { applyDocument } from "./document/apply.ts";
import { exportDocument } from "./document/document.ts";
import { rollback } from "./document/rollback.ts";
import { readText } from "./document/yaml.ts";
import { listingOfTools } from "./listing.fixture.ts";
import { mergePatch } from "./merge-patch.ts";
import { allObjects, NO_OBJECTS, type Objects } from "./objects.ts";
import { historyOf, randomChanges, TOOLS } from "./random-changes.fixture.ts";
import { hiddenBy } from "./view/server-view.ts";
import { type View, Views } from "./view/views.ts";

const place = { entryContext: { path: "/c", folder: "/", env: {} }, vault: contextAt(0).vault };
const listings = new Map<string, Listing>();
/** All servers list the same tools, except those with unknown tools. */
const listingOf = (uuid: string): Listing | undefined => {
  if (uuid.endsWith("3")) return undefined;
  const listing = listings.get(uuid) ?? listingOfTools(uuid, TOOLS);
  listings.set(uuid, listing);
  return listing;
};

/** Everything that a client can see or reach. */
const written = (view: View) => ({
  names: [...view.publicNames].map(([name, tool]) => [name, tool.server, tool.definition.toString()]),
  version: view.version,
  servers: [...view.listings.keys()],
});
const NAMES = [...TOOLS, "other", "gone"];
const content = (objects: Objects) =>
  allObjects(objects).map(({ kind, uuid, name, spec, managedBy, takenFrom, createdAt }) => ({
    kind,
    uuid,
    name,
    spec,
    managedBy,
    takenFrom,
    createdAt,
  }));

/** As `toEqual`, but fast if the values are equal. */
function same(a: unknown, b: unknown): void {
  if (!isDeepStrictEqual(a, b)) expect(a).toEqual(b);
}

describe("any sequence of changes", () => {
  test("compiles to the same result as from scratch, and compiles only affected objects", () => {
    fc.assert(
      fc.property(randomChanges, (changes) => {
        const views = new Views();
        let before: Compiled | undefined;
        for (const objects of historyOf(changes)) {
          const { compiled, work } = compile(objects, place, before);
          const fresh = compile(objects, place).compiled;
          same(compiled, fresh);
          for (const [uuid, endpoint] of compiled.endpoints) {
            const freshView = new Views().ofEndpoint(fresh.endpoints.get(uuid) as never, listingOf);
            same(written(views.ofEndpoint(endpoint, listingOf)), written(freshView));
            same(endpoint === before?.endpoints.get(uuid), !work.endpoints.includes(uuid));
          }
          before = compiled;
        }
      }),
      { numRuns: 60 },
    );
  });

  test("leaves disabled tools unreachable under any name, and gives every public name exactly one tool", () => {
    fc.assert(
      fc.property(randomChanges, (changes) => {
        const views = new Views();
        const { endpoints } = compile(historyOf(changes).at(-1) as Objects, place).compiled;
        for (const endpoint of endpoints.values()) {
          const view = views.ofEndpoint(endpoint, listingOf);
          const reached: string[] = [];
          for (const [server, { part }] of view.servers) {
            for (const name of NAMES) {
              const target = view.resolve(server, name);
              same(target === undefined && view.tool(server, name) !== undefined, false);
              if (target) same(hiddenBy(part, target.name), undefined);
              if (target) reached.push(`${server}:${target.name}`);
            }
          }
          const enabled = endpoint.parts.flatMap(({ part }) =>
            NAMES.filter((own) => !hiddenBy(part, own)).map((own) => `${part.name}:${own}`),
          );
          // Each tool is reached under exactly one name.
          same(reached.sort(), enabled.sort());
          const meant = [...view.publicNames.values()].map(({ server, name }) => view.resolve(server, name));
          const ids = meant.map((target) => `${target?.server}:${target?.own?.name}`);
          same(new Set(ids).size, view.publicNames.size);
          const shown = [...view.listings.values()].flatMap(({ tools }) => tools);
          same(shown.length, view.publicNames.size);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("can be exported and applied again without a change, as YAML too", async () => {
    await fc.assert(
      fc.asyncProperty(randomChanges, async (changes) => {
        const objects = historyOf(changes).at(-1) as Objects;
        const document = exportDocument(objects);
        const context = contextAt(1_000);
        for (const prune of [false, true]) {
          const outcome = applyDocument(objects, JSON.parse(JSON.stringify(document)), { prune }, context);
          expect(outcome.changes).toEqual([]);
          expect(outcome.objects).toBe(objects);
        }
        expect((await readText(stringify(document))).value).toEqual(document);
        // Applied to an empty gateway it gives the same objects, without the secrets.
        const { needs: _, ...copy } = exportDocument(
          applyDocument(NO_OBJECTS, document, {}, context).objects,
        );
        const { needs, ...own } = document;
        expect(copy).toEqual(own);
        expect(JSON.stringify(document)).not.toMatch(/secret|other-secret/);
        const sealed = [...objects.server.values()].flatMap(({ spec }) => Object.values(spec.env ?? {}));
        expect(needs ?? []).toHaveLength(sealed.filter((value) => typeof value === "object").length);
      }),
      { numRuns: 60 },
    );
  });

  test("can be rolled back to any revision, including secrets and ids", () => {
    fc.assert(
      fc.property(randomChanges, fc.nat(), (changes, n) => {
        const history = historyOf(changes);
        const target = history[n % history.length] as Objects;
        const outcome = rollback(history.at(-1) as Objects, target, contextAt(1_000));
        expect(content(outcome.objects)).toEqual(content(target));
        expect(rollback(outcome.objects, target, contextAt(1_001)).changes).toEqual([]);
        for (const { uuid, op } of outcome.changes)
          if (op !== "delete")
            expect(allObjects(outcome.objects).find((object) => object.uuid === uuid)?.revision).toBe(1_000);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a merge patch", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  /** A patch cannot set a member to null. */
  const withoutNull = json.map((value) => mergePatch({}, value));

  test("behaves as in the examples of RFC 7396", () => {
    const cases: readonly (readonly [unknown, unknown, unknown])[] = [
      [{ a: "b" }, { a: "c" }, { a: "c" }],
      [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
      [{ a: "b" }, { a: null }, {}],
      [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
      [{ a: ["b"] }, { a: "c" }, { a: "c" }],
      [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
      [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
      [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
      [
        ["a", "b"],
        ["c", "d"],
        ["c", "d"],
      ],
      [{ a: "b" }, ["c"], ["c"]],
      [{ a: "foo" }, null, null],
      [{ a: "foo" }, "bar", "bar"],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: "b", c: null }, { a: "b" }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ];
    for (const [target, patch, result] of cases) expect(mergePatch(target, patch)).toEqual(result);
    const polluted = mergePatch({}, JSON.parse('{"__proto__": {"x": 1}}'));
    expect(Object.keys(polluted as object)).toEqual(["__proto__"]);
    expect({}).not.toHaveProperty("x");
  });

  test("without members changes nothing, is idempotent, and applied to an empty object gives itself", () => {
    fc.assert(
      fc.property(json, json, withoutNull, (target, patch, plain) => {
        if (typeof target === "object" && target !== null && !Array.isArray(target))
          expect(mergePatch(target, {})).toEqual(target);
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
        expect(mergePatch({}, plain)).toEqual(plain);
      }),
    );
  });
});
