import { createSearch } from "./search.ts";
import { settingsWith } from "./settings.ts";
import { searchContract } from "./strategy.contract.ts";

searchContract("the built-in search", () => createSearch());
searchContract("the search by keywords only", () => createSearch(settingsWith({ strategy: "bm25" })));
