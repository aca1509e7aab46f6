/** Pages over a list in a fixed order. A walk gives each item once, or ends with an invalid-params error: its cursors hold for exactly this list. */
import { readCursor, writeCursor } from "../cursor.ts";
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

export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, walk: Walk): WalkPage<T> {
  const limit = Math.min(walk.limit ?? LIMIT, LIMIT_MOST);
  const binding = JSON.stringify([...walk.binding, digest(items.map(idOf))]);
  const offset = readCursor(walk.cursor, binding);
  const end = offset + limit;
  return {
    page: items.slice(offset, end),
    ...(end < items.length && { nextCursor: writeCursor(end, binding) }),
  };
}
