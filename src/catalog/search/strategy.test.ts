import { createSearch } from "./search.ts";
import { settingsWith } from "./settings.ts";
import { searchContract } from "./strategy.contract.ts";
import type { SearchStrategy } from "./strategy.ts";

searchContract("the built-in search", () => createSearch());
searchContract("the search by keywords only", () => createSearch(settingsWith({ strategy: "bm25" })));

const { createFirstLetters } = (await import(
  new URL("../../../examples/first-letters.mjs", import.meta.url).href
)) as { createFirstLetters: () => SearchStrategy };
searchContract("the search of examples/extending.mjs", createFirstLetters);
