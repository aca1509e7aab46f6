/** Pages over a list in a fixed order. A walk gives each item once, or ends with an invalid-params error: a cursor holds only after exactly the items given before it. */
import { claimedOffset, readCursor, writeCursor } from "../cursor.ts";
import { digest } from "./content.ts";

const LIMIT = 20;
const LIMIT_MOST = 100;

export interface Walk {
  readonly cursor: string | undefined;
  readonly limit: number | undefined;
  /** What was asked, by whom, and of which content. */
  readonly binding: readonly unknown[];
}

export interface WalkPage<T> {
  readonly page: readonly T[];
  readonly nextCursor?: string;
}

/** How many of the first items a page needs, to tell whether there are more. */
export function neededFor({ cursor, limit = LIMIT }: Pick<Walk, "cursor" | "limit">): number {
  return claimedOffset(cursor) + Math.min(limit, LIMIT_MOST) + 1;
}

/** `items`: all of them, or as many of the first as are needed. */
export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, walk: Walk): WalkPage<T> {
  const upTo = (end: number): string =>
    JSON.stringify([...walk.binding, digest(items.slice(0, end).map(idOf))]);
  const offset = readCursor(walk.cursor, upTo(claimedOffset(walk.cursor)));
  const end = offset + Math.min(walk.limit ?? LIMIT, LIMIT_MOST);
  return {
    page: items.slice(offset, end),
    ...(end < items.length && { nextCursor: writeCursor(end, upTo(end)) }),
  };
}
