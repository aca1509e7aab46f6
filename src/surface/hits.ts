/** The best hits of a question, up to the bound that is configured, and whether it leaves some out. Shows nothing by itself. */
import type { CatalogView } from "../catalog/catalog-view.ts";
import type { Hit, SearchOptions } from "../catalog/search/strategy.ts";

export interface Hits {
  readonly hits: readonly Hit[];
  /** There are more than anybody is shown. */
  readonly bounded: boolean;
}

/** `limit`: as many as a page needs, and one to tell whether there are more. */
export async function hitsOf({ search }: CatalogView, query: string, options: SearchOptions): Promise<Hits> {
  const { mostShown = Number.POSITIVE_INFINITY } = search;
  const limit = Math.min(options.limit, mostShown + 1);
  const hits = await search.search(query, { ...options, limit });
  return hits.length > mostShown
    ? { hits: hits.slice(0, mostShown), bounded: true }
    : { hits, bounded: false };
}

/** For whoever came to the end of what is shown. */
export function boundedNote({ search }: CatalogView): string {
  const most = search.mostShown?.toLocaleString("en");
  return `More tools match, but a search returns at most ${most}: use a more precise query.`;
}
