import { expect, test } from "vitest";
import { ManualClock } from "../../kernel/clock.ts";
import { silentLog } from "../../kernel/log.ts";
import { LazySearch } from "./lazy-search.ts";
import { createSearch } from "./search.ts";
import { settingsWith } from "./settings.ts";
import { searchContract } from "./strategy.contract.ts";
import type { SearchStrategy } from "./strategy.ts";

searchContract("the built-in search", () => createSearch());
const setUp = { home: "", clock: new ManualClock(), log: silentLog };
searchContract("the search that loads with the first tools", () => new LazySearch(setUp));
searchContract("the search by keywords only", () => createSearch(settingsWith({ strategy: "bm25" })));

const { createFirstLetters } = (await import(
  new URL("../../../examples/first-letters.mjs", import.meta.url).href
)) as { createFirstLetters: () => SearchStrategy };
searchContract("the search of examples/extending.mjs", createFirstLetters);

test("the search that is not loaded yet knows how many hits to show", () => {
  expect(new LazySearch({ ...setUp, settings: { maxResults: 7 } }).mostShown).toBe(7);
});
