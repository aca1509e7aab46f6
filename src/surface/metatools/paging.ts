/**
 * Pages of a list in a fixed order. Reading all pages returns each item once, or ends with an invalid params
 * error: a cursor is valid only if the items before it are the same as when it was made.
 */

import { digest } from "../content-hash.ts";
import { type Cursors, claimedOffset } from "../cursor.ts";

const LIMIT = 20;
const MAX_LIMIT = 100;

export interface PageRequest {
  readonly cursors: Cursors;
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  /** Identifies the query, the caller and the content. */
  readonly binding: readonly unknown[];
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Returns how many items, from the first on, `pageOf` needs to know whether there are more. */
export function itemsNeeded({ cursor, limit = LIMIT }: Pick<PageRequest, "cursor" | "limit">): number {
  return claimedOffset(cursor) + Math.min(limit, MAX_LIMIT) + 1;
}

/** `items` are all items, or at least the first `itemsNeeded`. */
export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, request: PageRequest): Page<T> {
  const upTo = (end: number): string =>
    JSON.stringify([...request.binding, digest(items.slice(0, end).map(idOf))]);
  const offset = request.cursors.read(request.cursor, upTo(claimedOffset(request.cursor)));
  const end = offset + Math.min(request.limit ?? LIMIT, MAX_LIMIT);
  return {
    items: items.slice(offset, end),
    ...(end < items.length && { nextCursor: request.cursors.write(end, upTo(end)) }),
  };
}
