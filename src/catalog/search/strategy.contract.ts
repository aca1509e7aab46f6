/**
 * Tests that every search strategy must pass, however it ranks. Run them on your own strategy:
 * `searchContract("mine", () => createMine())`.
 */
import { describe, expect, test } from "vitest";
import { toRaw } from "../../kernel/raw.ts";
import { type Tool, toolId } from "../tool.ts";
import type { Hit, SearchStrategy } from "./strategy.ts";

function tool(server: string, name: string, description: string): Tool {
  const inputSchema = {
    type: "object",
    properties: { target: { type: "string", description: "What to act on" } },
  };
  return {
    server,
    name,
    title: undefined,
    description,
    annotations: {},
    definition: toRaw({ name, description, inputSchema }),
    inputSchema: toRaw(inputSchema),
  };
}

const FILES = [
  tool("files", "read_file", "Read the contents of a file."),
  tool("files", "move_file", "Move or rename a file."),
  tool("files", "create_directory", "Create a directory."),
];
const WEATHER = [
  tool("weather", "get_forecast", "Get the weather forecast of a city."),
  tool("weather", "list_alerts", "List warnings of storms in a region."),
];
/** The same tools at another server, so that scores are equal. */
const MIRROR = FILES.map(({ name, description }) => tool("mirror", name, description));
const ODD = [tool("__proto__", "constructor", "Build a house out of wood.")];

const QUERIES = [
  "read a file",
  "weather forecast",
  "file",
  "create",
  "storm in a city or a directory",
  "nothing like it",
];

const HOSTILE = [
  "",
  " \t\r\n",
  "\0",
  "\ud800 lone \udfff",
  "\u202efile\u2066\u200b\ufeff",
  "e\u0301".repeat(500),
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "读文件 קרא קובץ فایل",
  "__proto__ constructor toString",
  "(((*+?[{\\^$|\"'`;--%00../<script>",
  "a".repeat(100_000),
  "read file ".repeat(10_000),
];

function fill(strategy: SearchStrategy): SearchStrategy {
  strategy.update("mirror", MIRROR);
  strategy.update("files", FILES, { title: "Files", description: "Works on files and directories." });
  strategy.update("weather", WEATHER);
  return strategy;
}

const idsIn = (hits: readonly Hit[]): string[] => hits.map(toolId);

/** Checks what must hold for the hits of any search. */
function expectValid(hits: readonly Hit[], limit: number): void {
  expect(hits.length).toBeLessThanOrEqual(limit);
  expect(new Set(idsIn(hits)).size, "each tool once").toBe(hits.length);
  for (const [n, hit] of hits.entries()) {
    for (const share of [hit.confidence, hit.fit ?? 0]) {
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    const better = hits[n - 1] ?? { ...hit, score: Number.POSITIVE_INFINITY };
    expect(hit.confidence, "confidence does not rise").toBeLessThanOrEqual(better.confidence);
    expect(hit.score, "best first").toBeLessThanOrEqual(better.score);
    if (hit.score === better.score)
      expect(toolId(better) < toolId(hit), "equal scores in the order of tool ids").toBe(true);
  }
}

export function searchContract(name: string, make: () => SearchStrategy): void {
  describe(`${name} keeps the contract of search strategies`, () => {
    test("returns no hits before the first update, and accepts the removal of an unknown server", async () => {
      const search = make();
      expect(await search.search("read_file", { limit: 10 })).toEqual([]);
      search.remove("files");
      expect(await search.search("read_file", { limit: 10 })).toEqual([]);
    });

    test.each([...FILES, ...WEATHER, ...ODD])(
      "returns $name first for its exact name, right after the update",
      async (wanted) => {
        const search = make();
        for (const tools of [FILES, WEATHER, ODD]) search.update((tools[0] as Tool).server, tools);
        const [first] = await search.search(wanted.name, { limit: 3 });
        expect(first && toolId(first)).toBe(toolId(wanted));
      },
    );

    test.each(QUERIES)(
      "%j: returns the best first, equal scores by tool id, and at most `limit` hits",
      async (query) => {
        const search = fill(make());
        const all = await search.search(query, { limit: 100 });
        const known = new Set([...FILES, ...WEATHER, ...MIRROR].map(toolId));
        expect(idsIn(all).filter((id) => !known.has(id))).toEqual([]);
        expectValid(all, 100);
        for (const limit of [0, 1, 2, 5]) {
          const few = await search.search(query, { limit });
          expectValid(few, limit);
          expect(few, "a lower limit returns the same first hits").toEqual(all.slice(0, limit));
        }
      },
    );

    test("returns the same hits for the same question", async () => {
      const search = fill(make());
      const ask = () => Promise.all(QUERIES.map((query) => search.search(query, { limit: 10 })));
      expect(await ask()).toEqual(await ask());
    });

    test("an update replaces all tools of its server and none of other servers", async () => {
      const search = fill(make());
      search.update("files", [tool("files", "draw_circle", "Draw a circle.")]);
      expect(idsIn(await search.search("draw_circle", { limit: 1 }))).toEqual(["files:draw_circle"]);
      const found = idsIn(await search.search("read_file", { limit: 10 }));
      expect(found).toContain("mirror:read_file");
      expect(found).not.toContain("files:read_file");
      search.update("files", []);
      expect(idsIn(await search.search("draw_circle", { limit: 10 }))).not.toContain("files:draw_circle");
    });

    test("a removed server is not found, and can be added again", async () => {
      const search = fill(make());
      const before = await search.search("read_file", { limit: 10 });
      search.remove("files");
      const without = await search.search("read_file", { limit: 10 });
      expect(without.filter(({ server }) => server === "files")).toEqual([]);
      fill(search);
      expect(idsIn(await search.search("read_file", { limit: 10 }))).toEqual(idsIn(before));
    });

    test.each(QUERIES)("%j: tools out of scope do not change the hits", async (query) => {
      const bare = make();
      bare.update("files", FILES.slice(1));
      const search = fill(make());
      const scope = (server: string, name: string): boolean => server === "files" && name !== "read_file";
      search.update("files", FILES);
      expect(await search.search(query, { limit: 10, scope })).toEqual(
        await bare.search(query, { limit: 10 }),
      );
      expect(await search.search(query, { limit: 10, scope: () => false })).toEqual([]);
    });

    test.each(HOSTILE.map((query) => [JSON.stringify(query).slice(0, 40), query]))(
      "handles the question %s, and later searches still work",
      async (_shown, query) => {
        const search = fill(make());
        expectValid(await search.search(query, { limit: 5 }), 5);
        expect(idsIn(await search.search("get_forecast", { limit: 1 }))).toEqual(["weather:get_forecast"]);
      },
    );
  });
}
