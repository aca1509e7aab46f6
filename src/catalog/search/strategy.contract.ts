/** What every search strategy owes, however it ranks. Run it on your own: `searchContract("mine", () => createMine())`. */
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
/** The same tools at another server, for ties. */
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

/** What is true of every answer, whatever was asked. */
function expectSound(hits: readonly Hit[], limit: number): void {
  expect(hits.length).toBeLessThanOrEqual(limit);
  expect(new Set(idsIn(hits)).size, "each tool once").toBe(hits.length);
  for (const [n, hit] of hits.entries()) {
    for (const share of [hit.confidence, hit.fit ?? 0]) {
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
    }
    const better = hits[n - 1] ?? { ...hit, score: Number.POSITIVE_INFINITY };
    expect(hit.confidence, "no surer of a later hit").toBeLessThanOrEqual(better.confidence);
    expect(hit.score, "best first").toBeLessThanOrEqual(better.score);
    if (hit.score === better.score) expect(toolId(better) < toolId(hit), "ties by tool id").toBe(true);
  }
}

export function searchContract(name: string, make: () => SearchStrategy): void {
  describe(`${name} keeps the contract of search strategies`, () => {
    test("knows nothing before it was told anything, and may forget what it never knew", async () => {
      const search = make();
      expect(await search.search("read_file", { limit: 10 })).toEqual([]);
      search.remove("files");
      expect(await search.search("read_file", { limit: 10 })).toEqual([]);
    });

    test.each([...FILES, ...WEATHER, ...ODD])(
      "finds $name by its name, at once and first",
      async (wanted) => {
        const search = make();
        for (const tools of [FILES, WEATHER, ODD]) search.update((tools[0] as Tool).server, tools);
        const [first] = await search.search(wanted.name, { limit: 3 });
        expect(first && toolId(first)).toBe(toolId(wanted));
      },
    );

    test.each(QUERIES)("%j: best first, ties by tool id, no more than wanted", async (query) => {
      const search = fill(make());
      const all = await search.search(query, { limit: 100 });
      const known = new Set([...FILES, ...WEATHER, ...MIRROR].map(toolId));
      expect(idsIn(all).filter((id) => !known.has(id))).toEqual([]);
      expectSound(all, 100);
      for (const limit of [0, 1, 2, 5]) {
        const few = await search.search(query, { limit });
        expectSound(few, limit);
        expect(few, "the first hits are the same where fewer are wanted").toEqual(all.slice(0, limit));
      }
    });

    test("the same question gets the same answer", async () => {
      const search = fill(make());
      const ask = () => Promise.all(QUERIES.map((query) => search.search(query, { limit: 10 })));
      expect(await ask()).toEqual(await ask());
    });

    test("an update replaces all that was known of its server, and nothing of others", async () => {
      const search = fill(make());
      search.update("files", [tool("files", "draw_circle", "Draw a circle.")]);
      expect(idsIn(await search.search("draw_circle", { limit: 1 }))).toEqual(["files:draw_circle"]);
      const found = idsIn(await search.search("read_file", { limit: 10 }));
      expect(found).toContain("mirror:read_file");
      expect(found).not.toContain("files:read_file");
      search.update("files", []);
      expect(idsIn(await search.search("draw_circle", { limit: 10 }))).not.toContain("files:draw_circle");
    });

    test("what was removed is forgotten, and can come back", async () => {
      const search = fill(make());
      const before = await search.search("read_file", { limit: 10 });
      search.remove("files");
      const without = await search.search("read_file", { limit: 10 });
      expect(without.filter(({ server }) => server === "files")).toEqual([]);
      fill(search);
      expect(idsIn(await search.search("read_file", { limit: 10 }))).toEqual(idsIn(before));
    });

    test.each(QUERIES)("%j: what the caller may not see changes nothing", async (query) => {
      const bare = make();
      bare.update("files", FILES.slice(1));
      const search = fill(make());
      const scope = (server: string, called: string): boolean => server === "files" && called !== "read_file";
      search.update("files", FILES);
      expect(await search.search(query, { limit: 10, scope })).toEqual(
        await bare.search(query, { limit: 10 }),
      );
      expect(await search.search(query, { limit: 10, scope: () => false })).toEqual([]);
    });

    test.each(HOSTILE.map((query) => [JSON.stringify(query).slice(0, 40), query]))(
      "%s is answered like any question",
      async (_shown, query) => {
        const search = fill(make());
        expectSound(await search.search(query, { limit: 5 }), 5);
        expect(idsIn(await search.search("get_forecast", { limit: 1 }))).toEqual(["weather:get_forecast"]);
      },
    );
  });
}
