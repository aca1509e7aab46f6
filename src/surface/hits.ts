/** Searches tools, up to the configured maximum of results, and says whether the maximum cut some off. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Hit, SearchOptions } from "../catalog/search/strategy.ts";

export interface Hits {
  readonly hits: readonly Hit[];
  /** There are more hits than the configured maximum. */
  readonly bounded: boolean;
}

/** `limit` is the number of hits that a page needs, plus one to know whether there are more. */
export async function hitsOf({ search }: CatalogView, query: string, options: SearchOptions): Promise<Hits> {
  const { mostShown = Number.POSITIVE_INFINITY } = search;
  const limit = Math.min(options.limit, mostShown + 1);
  const hits = await search.search(query, { ...options, limit });
  return hits.length > mostShown
    ? { hits: hits.slice(0, mostShown), bounded: true }
    : { hits, bounded: false };
}

/** The note after the last hit that may be shown. */
export function boundedNote({ search }: CatalogView): string {
  const most = search.mostShown?.toLocaleString("en");
  return `More tools match, but a search returns at most ${most}: use a more precise query.`;
}
