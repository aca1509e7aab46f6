import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { asRaw, toRaw } from "../../kernel/raw.ts";
import type { Tool } from "../tool.ts";
import { Collection } from "./collection.ts";
import { createSearch } from "./search.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import type { SearchStrategy } from "./strategy.ts";
import { tool } from "./tool.fixture.ts";

const FILES = [
  tool("files", "read_file", "Read the complete contents of a file. DEPRECATED: use read_text_file.", {
    path: { type: "string", description: "Where the file is" },
  }),
  tool("files", "read_text_file", "Read the complete contents of a text file.", { path: { type: "string" } }),
  tool("files", "create_directory", "Create a directory, with its parents if they are missing."),
  tool("files", "moveFile", "Move or rename a file."),
];
const WEB = [
  tool("browser", "take_screenshot", "Take a picture of the page as it is shown."),
  tool("browser", "navigate", "Go to a URL.", { url: { type: "string" } }),
  tool("browser", "evaluate_script", "Run JavaScript in the page."),
];
const CHINESE = [tool("zh", "weather_zh", "获取城市的天气预报")];

function filled(strategy: SearchStrategy = createSearch()): SearchStrategy {
  strategy.update("files", FILES, { title: "File system" });
  strategy.update("browser", WEB, { description: "Controls a browser" });
  strategy.update("zh", CHINESE);
  return strategy;
}

const namesOf = async (search: SearchStrategy, query: string): Promise<string[]> =>
  (await search.search(query, { limit: 10 })).map((hit) => hit.name);

let search: SearchStrategy;
beforeAll(() => {
  search = filled();
});

test.each([
  ["rename a file", "moveFile"],
  ["make a new folder", "create_directory"],
  ["readfile", "read_file"],
  ["screnshot", "take_screenshot"],
  ["screen shot of the page", "take_screenshot"],
  ["open https://example.com/a/b?c=d", "navigate"],
  ["évaluer le JavaScript", "evaluate_script"],
  ["天气", "weather_zh"],
  ["weather of a city", "weather_zh"],
  ["read a text file", "read_text_file"],
])("finds for %j the tool %s", async (query, name) => {
  expect((await namesOf(search, query))[0]).toBe(name);
});

const PEOPLE = [
  tool("code", "create_pull_request", "Create a new pull request in a repository."),
  tool("code", "get_pull_request_files", "Get the files changed in a pull request."),
  tool("code", "update_pull_request", "Update a pull request with the latest changes."),
  tool("code", "search_users", "Search for users."),
  tool("code", "add_comment", "Add a comment to an existing issue."),
];
const MEMORY = [
  tool("memory", "open_nodes", "Open specific nodes by their names."),
  tool("memory", "add_observations", "Add new observations to entities."),
  tool("memory", "delete_observations", "Delete observations from entities."),
];
const REST = [
  tool("math", "get_sum", "Returns the sum of two values."),
  tool("cluster", "list_resources", "List kubernetes resources."),
  tool("cluster", "apply", "Apply a kubernetes manifest."),
  tool("web", "web_search", "Search the web."),
  tool("tables", "list_databases", "List all databases."),
  tool("tables", "db_stats", "Statistics of one database."),
  tool("maps", "search_places", "Search places with the Google API."),
];

test.each([
  ["open a PR", "create_pull_request"],
  ["what changed in this PR", "get_pull_request_files"],
  ["who is octocat", "search_users"],
  ["remember that Bob likes tea", "add_observations"],
  ["forget that Bob likes tea", "delete_observations"],
  ["add two numbers", "get_sum"],
  ["what is there on k8s", "list_resources"],
  ["google it", "web_search"],
  ["which dbs do we have", "list_databases"],
  ["make a dir", "create_directory"],
])("finds for the everyday words %j the tool %s", async (query, name) => {
  const everyday = filled();
  for (const list of [PEOPLE, MEMORY]) everyday.update((list[0] as Tool).server, list);
  for (const one of REST)
    everyday.update(
      one.server,
      REST.filter(({ server }) => server === one.server),
    );
  expect((await namesOf(everyday, query))[0]).toBe(name);
});

test("a number in a tool's name does not lower its score", async () => {
  const best = async (name: string) => {
    const weather = createSearch();
    weather.update("a", [tool("a", name, ""), tool("a", "get_stock", "")]);
    return (await weather.search("what is the weather like in Hanoi", { limit: 1 }))[0]?.score;
  };
  expect(await best("get_weather_1")).toBe(await best("get_weather"));
});

test("does not return tools without a word in common and with a low cosine", async () => {
  expect(await namesOf(search, "pregnant giraffe")).toEqual([]);
});

test("an exact name gets a high confidence, nonsense a low one", async () => {
  const [named] = await search.search("create_directory", { limit: 1 });
  expect(named).toMatchObject({ name: "create_directory" });
  expect(named?.confidence).toBeGreaterThan(0.9);

  for (const nonsense of ["zxqv blorp", "zxqv blorp page", "qqq www eee file zzz", "blorp"]) {
    for (const hit of await search.search(nonsense, { limit: 3 })) expect(hit.confidence).toBeLessThan(0.3);
  }
});

test.each(["who_am_i", "help", "x", "git.log", "/etc/passwd/show", "a.b@c.de", "odd:help", "__proto__"])(
  "finds a tool by its exact name %s, even if its words are stop words or a literal",
  async (name) => {
    for (const strategy of ["lexical", "bm25", "hybrid"] as const) {
      const odd = filled(createSearch({ ...DEFAULT_SETTINGS, strategy }));
      const own = name.replace(/^odd:/, "");
      odd.update("odd", [tool("odd", own, "Nothing special.")]);
      const [hit] = await odd.search(name, { limit: 1 });
      expect(hit).toMatchObject({ server: "odd", name: own });
      expect(hit?.confidence).toBeGreaterThan(0.9);
      expect(await odd.search(name, { limit: 1, scope: () => false })).toEqual([]);
    }
  },
);

test("the words that one server adds to the lexicon are bounded and are deleted with the server", () => {
  const letters = (n: number): string => n.toString(26).replaceAll(/\d/g, (d) => "qrstuvwxyz"[+d] as string);
  const flood = Array.from({ length: 150 }, (_, i) =>
    tool("evil", `t${i}`, Array.from({ length: 400 }, (_, k) => letters(1e6 + i * 400 + k)).join(" ")),
  );
  const collection = new Collection(DEFAULT_SETTINGS);
  const run = (work: Generator<number>): number => [...work].length;
  run(collection.replace({ server: "evil", tools: flood, text: {} }));
  run(collection.replace({ server: "files", tools: FILES, text: {} }));
  expect(collection.lexicon.size).toBeLessThan(50_100);
  expect(collection.lexicon.term("rename")).toBeDefined();
  run(collection.remove("evil"));
  expect(collection.lexicon.size).toBeLessThan(100);
  expect(collection.lexicon.term("rename")).toBeDefined();
  run(collection.remove("files"));
  expect(collection.lexicon.size).toBe(0);
  expect(collection.lexicon.term("rename")).toBeUndefined();
});

test.each(["lexical", "bm25", "hybrid"] as const)("finds a tool with the strategy %s", async (strategy) => {
  const [hit] = await filled(createSearch({ ...DEFAULT_SETTINGS, strategy })).search("take a screenshot", {
    limit: 1,
  });
  expect(hit).toMatchObject({ server: "browser", name: "take_screenshot" });
});

test("uses keywords if there are no word vectors", async () => {
  const bare = filled(createSearch(DEFAULT_SETTINGS, { loadWords: async () => undefined }));
  expect((await namesOf(bare, "rename a file"))[0]).toBe("moveFile");
  expect((await bare.search("zxqv blorp page", { limit: 1 }))[0]?.confidence ?? 0).toBeLessThan(0.3);
  // Without word vectors "movie" could be a typing error for "move", so short words are not corrected.
  expect(await namesOf(bare, "movie")).toEqual([]);
});

test("a search sees the updates made before it, and none of the later ones", async () => {
  const changing = filled();
  const before = changing.search("take a screenshot", { limit: 10 });
  changing.update("browser", [tool("browser", "snap", "Take a screenshot.")]);
  const after = changing.search("take a screenshot", { limit: 10 });
  changing.remove("browser");
  const last = changing.search("take a screenshot", { limit: 10 });

  expect((await before).map((hit) => hit.name)).toContain("take_screenshot");
  expect((await after).map((hit) => hit.name)).toContain("snap");
  expect((await after).map((hit) => hit.name)).not.toContain("take_screenshot");
  expect((await last).map((hit) => hit.server)).not.toContain("browser");
});

test("an index after updates and removals returns the same hits as a new index", async () => {
  const pool = [...FILES, ...WEB, ...CHINESE, tool("x", "navigation", "Navigating and renamed directories.")];
  const list = fc.option(fc.shuffledSubarray(pool), { nil: undefined });
  const change = fc.tuple(fc.constantFrom("files", "browser", "other"), list);
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      const changed = createSearch();
      const last = new Map<string, readonly Tool[]>();
      for (const [server, tools] of changes) {
        last.delete(server);
        if (tools) changed.update(server, tools, { title: `${tools.length} tools` });
        else changed.remove(server);
        if (tools) last.set(server, tools);
        if (tools?.length === 2) await changed.search("in between", { limit: 1 });
      }
      const fresh = createSearch();
      for (const [server, tools] of [...last].reverse())
        fresh.update(server, tools, { title: `${tools.length} tools` });
      for (const query of [
        "rename a file",
        "navigatimg",
        "screnshot of 天气",
        "go to a page and read the file",
      ]) {
        expect(await changed.search(query, { limit: 10 })).toEqual(await fresh.search(query, { limit: 10 }));
      }
    }),
    { numRuns: 40 },
  );
});

test("tools out of scope do not change the hits", async () => {
  const alone = createSearch();
  alone.update("files", FILES, { title: "File system" });
  search.update("hidden", [tool("hidden", "renaming", "Creates while renaming, moved directories.")]);
  const scope = (server: string): boolean => server === "files";
  for (const query of [
    "rename a file",
    "page",
    "take a screenshot of the file",
    "screnshot",
    "navigat",
    "picture",
    "renamimg",
    "directoriess",
    "creatimg",
  ]) {
    expect(await search.search(query, { limit: 10, scope })).toEqual(
      await alone.search(query, { limit: 10 }),
    );
  }
  expect(await search.search("file", { limit: 10, scope: () => false })).toEqual([]);
  search.remove("hidden");
});

test("names that the examples know count neither out of scope nor by the number of hits", async () => {
  const known = ["read_file", "write_file", "delete_file", "list_files", "copy_file", "move_file"].map(
    (name) => tool("files", name, "A file."),
  );
  const odd = Array.from({ length: 8 }, (_, n) => tool("odd", `blorp_${"abcdefgh"[n]}`, "A file."));
  const alone = createSearch();
  alone.update("files", known);
  const both = createSearch();
  both.update("files", known);
  both.update("odd", odd);
  const query = "change a file";
  const scope = (server: string): boolean => server === "files";
  expect(await both.search(query, { limit: 3, scope })).toEqual(await alone.search(query, { limit: 3 }));
  expect(await both.search(query, { limit: 3 })).toEqual(
    (await both.search(query, { limit: 20 })).slice(0, 3),
  );
});

test("tools with equal scores are ordered by their ids", async () => {
  const twins = createSearch();
  for (const server of ["b", "c", "a"]) twins.update(server, [tool("x", "same", "The very same tool.")]);
  const hits = await twins.search("very same tool", { limit: 10 });
  expect(hits.map((hit) => hit.server)).toEqual(["a", "b", "c"]);
});

test("other work gets turns while a large list is indexed", async () => {
  const many = Array.from({ length: 3000 }, (_, i) =>
    tool("big", `tool_${i}`, `Does the thing number ${i} with care. `.repeat(3)),
  );
  const busy = createSearch();
  busy.update("big", many);
  let turns = 0;
  let done = false;
  const turn = (): void => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await busy.search("thing number 7", { limit: 1 });
  done = true;
  expect(turns).toBeGreaterThan(5);
});

test("indexes at most maxDocs tools", async () => {
  const small = createSearch({ ...DEFAULT_SETTINGS, maxDocs: 2 });
  small.update("files", FILES);
  expect(await small.search("file directory rename", { limit: 10 })).toHaveLength(2);
});

test.each([
  "",
  " ",
  "a",
  "🎉",
  "👩‍👩‍👧‍👦 file",
  "constructor",
  "__proto__",
  "toString hasOwnProperty",
  "(.*)+[",
  "\\",
  "\u0000",
  "\ud800",
  "file ".repeat(20_000),
  "x".repeat(100_000),
  "/a".repeat(2_000),
  "a.b@".repeat(1_000),
  "and ".repeat(1_000),
  `a${" ".repeat(3_990)}b`,
  "qwertz".repeat(600).replaceAll(/.{7}/g, "$& "),
  "读".repeat(5_000),
])("returns valid confidences for the unusual question %#", async (query) => {
  for (const hit of await search.search(query, { limit: 5 })) {
    expect(hit.confidence).toBeGreaterThanOrEqual(0);
    expect(hit.confidence).toBeLessThanOrEqual(1);
  }
});

test("returns finite scores for any question and any tools", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      fc.jsonValue(),
      async (query, text, schema) => {
        const odd = createSearch();
        odd.update(text, [{ ...tool(text, query, text), inputSchema: toRaw({ properties: schema }) }]);
        odd.update("broken", [{ ...tool("broken", text, query), inputSchema: asRaw(Buffer.from("{")) }]);
        for (const hit of await odd.search(query, { limit: 5 }))
          expect(Number.isFinite(hit.score)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test.each(["hybrid", "bm25", "lexical"] as const)(
  "%s: returns as many hits as the limit allows, in an order that does not depend on it",
  async (strategy) => {
    const large = createSearch({ ...DEFAULT_SETTINGS, strategy });
    const tools = Array.from({ length: 400 }, (_, n) =>
      tool("many", `widget_${n}`, `Paint widget ${"very ".repeat(n % 7)}number ${n}.`),
    );
    large.update("many", [...tools, tool("many", "paint_widget", "Something else altogether.")]);
    const query = "paint widget";
    const all = await large.search(query, { limit: 1_000 });
    expect(all).toHaveLength(401);
    expect(new Set(all.map(({ name }) => name)).size).toBe(401);
    for (const limit of [1, 20, 99, 101, 102, 250, 400])
      expect(await large.search(query, { limit })).toEqual(all.slice(0, limit));
    for (const [at, { score, confidence }] of all.entries()) {
      expect(score).toBeLessThanOrEqual(all[at - 1]?.score ?? Number.POSITIVE_INFINITY);
      expect(score).toBeGreaterThan(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  },
);
