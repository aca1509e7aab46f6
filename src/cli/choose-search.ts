/** Creates the search of the settings and the config. */
import { LazySearch } from "../catalog/search/lazy-search.ts";
import type { SearchSetUp } from "../catalog/search/set-up.ts";
import type { SearchStrategy } from "../catalog/search/strategy.ts";
import type { Settings } from "../config/flags.ts";
import type { Config } from "../config/spec.ts";
import type { Env } from "../home/home.ts";

export function chooseSearch(
  settings: Settings,
  { embedder }: Config,
  { env = process.env, ...parts }: Pick<SearchSetUp, "home" | "clock" | "log"> & { readonly env?: Env },
): SearchStrategy {
  return new LazySearch({
    ...parts,
    // Only the configured variable is read, so that no other secret can be sent.
    embedder: embedder && {
      ...embedder,
      key: embedder.keyEnv === undefined ? undefined : env[embedder.keyEnv],
    },
    settings: {
      strategy: settings.searchStrategy,
      k1: settings.searchBm25K1,
      b: settings.searchBm25B,
      maxDocs: settings.searchBm25MaxDocs,
      maxResults: settings.searchBm25MaxResults,
      weights: {
        name: settings.searchBm25NameWeight,
        title: settings.searchBm25TitleWeight,
        description: settings.searchBm25DescriptionWeight,
        parameters: settings.searchBm25ParameterWeight,
        parameterTexts: settings.searchBm25ParameterDescriptionWeight,
        server: settings.searchBm25ServerWeight,
        serverText: settings.searchBm25ServerDescriptionWeight,
      },
    },
  });
}
