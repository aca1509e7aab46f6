import { expect, test } from "vitest";
import type { Tool } from "../tool.ts";
import { createSearch, type SearchParts } from "./search.ts";
import { DEFAULT_SETTINGS, type Strategy } from "./settings.ts";
import type { SearchStrategy } from "./strategy.ts";
import { tool } from "./tool.fixture.ts";

const RANKINGS: readonly [string, Strategy, SearchParts][] = [
  ["the network", "hybrid", {}],
  ["the network without word vectors", "hybrid", { loadWords: async () => undefined }],
  ["keywords, because there is no network", "hybrid", { loadScorer: async () => undefined }],
  ["keywords", "bm25", {}],
  ["words of equal weight", "lexical", {}],
];

/** One tool has all words of the question, the others one of them each. */
const BEST = tool("s0", "paint_widget", "Paint a widget in a color.");
const OTHERS = Array.from({ length: 30 }, (_, n) =>
  tool(`s${n + 1}`, `show_${n}`, `Show the ${["widget", "color", "shop"][n % 3]} ${"again ".repeat(n % 5)}.`),
);
const QUESTION = "paint the widget in another color";

function filled(search: SearchStrategy, tools: readonly Tool[]): SearchStrategy {
  for (const one of tools) search.update(one.server, [one]);
  return search;
}

test.each(RANKINGS)(
  "ranked by %s, hits do not depend on the order of updates or on hidden tools",
  async (_, strategy, parts) => {
    const make = () => createSearch({ ...DEFAULT_SETTINGS, strategy }, parts);
    const last = filled(make(), [...OTHERS, BEST]);
    const hits = await last.search(QUESTION, { limit: 50 });
    expect(hits[0]).toMatchObject({ name: BEST.name });
    expect(hits.length).toBeGreaterThan(10);

    expect(await filled(make(), [BEST, ...OTHERS]).search(QUESTION, { limit: 50 })).toEqual(hits);

    const hidden = OTHERS.map(({ name, description }, n) => tool(`hidden${n}`, name, description));
    const partly = filled(make(), [...hidden, BEST, ...OTHERS]);
    const scope = (server: string): boolean => !server.startsWith("hidden");
    expect(await partly.search(QUESTION, { limit: 50, scope })).toEqual(hits);
  },
);

test.each(RANKINGS)(
  "ranked by %s, the fit of a tool far above many others is in 0..1",
  async (_, strategy, parts) => {
    const best = tool("z", "paint_widget", "Paint widget color.");
    const weak = OTHERS.map(({ server, name }) =>
      tool(server, name, `Color ${"of a shop in the old town ".repeat(20)}`),
    );
    const search = filled(createSearch({ ...DEFAULT_SETTINGS, strategy }, parts), [...weak, best]);
    const hits = await search.search("paint widget color", { limit: 50 });
    expect(hits[0]).toMatchObject({ name: "paint_widget" });
    for (const { fit = 0 } of hits) {
      expect(fit).toBeGreaterThanOrEqual(0);
      expect(fit).toBeLessThanOrEqual(1);
    }
  },
);

test.each([-1e6, -50, 0, 50, 1e6])(
  "scores and confidences are finite if the evidence counts %d",
  async (factor) => {
    const scorer = { score: (inputs: Float64Array) => factor * (inputs[0] as number) };
    const search = filled(createSearch(DEFAULT_SETTINGS, { loadScorer: async () => scorer }), OTHERS);
    for (const { score, confidence } of await search.search(QUESTION, { limit: 50 })) {
      expect(Number.isFinite(score)).toBe(true);
      expect(confidence).toBeGreaterThanOrEqual(0);
      expect(confidence).toBeLessThanOrEqual(1);
    }
  },
);

test("a deprecated tool comes after one that is otherwise equal, and first for its exact name", async () => {
  const scorer = { score: (inputs: Float64Array) => inputs[0] as number };
  const search = createSearch(DEFAULT_SETTINGS, {
    loadWords: async () => undefined,
    loadScorer: async () => scorer,
  });
  search.update("a", [tool("a", "paint_widget", "Paint a widget. Deprecated.")]);
  search.update("b", [tool("b", "paint_widget", "Paint a widget. Carefully.")]);
  const servers = async (query: string) =>
    (await search.search(query, { limit: 2 })).map(({ server }) => server);
  expect(await servers("please paint the widget")).toEqual(["b", "a"]);
  expect(await servers("a:paint_widget")).toEqual(["a", "b"]);
});
