/**
 * Pagination of lists. A cursor holds the key of the last returned item, so it stays valid when items are
 * added or removed.
 */
import { Problem } from "./problem.ts";
import type { ListQuery } from "./route.ts";

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export interface Paging<T> {
  /** Unique. Items are returned in the order of their keys. */
  readonly keyOf: (item: T) => string;
  /** The text that `q` searches. */
  readonly textOf?: (item: T) => string;
}

export function pageOf<T>(
  list: readonly T[],
  query: ListQuery,
  { keyOf, textOf = () => "" }: Paging<T>,
): ListPage<T> {
  return pageAfter(matching(list, query, textOf), query, keyOf);
}

/** The items whose text contains `q`, ignoring case. */
export function matching<T>(
  list: readonly T[],
  { q = "" }: Pick<ListQuery, "q">,
  textOf: (item: T) => string,
): readonly T[] {
  const needle = folded(q);
  return needle === "" ? list : list.filter((item) => folded(textOf(item)).includes(needle));
}

export function pageAfter<T>(
  list: readonly T[],
  query: Omit<ListQuery, "q">,
  keyOf: Paging<T>["keyOf"],
): ListPage<T> {
  const { limit } = query;
  const after = cursorIn(query);
  const rows = list
    .map((item) => ({ item, key: keyOf(item) }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const last = rows[limit - 1];
  return {
    items: rows.slice(0, limit).map(({ item }) => item),
    ...(last && rows.length > limit ? { nextCursor: cursorAt(last.key) } : {}),
  };
}

export function cursorAt(key: string): string {
  return Buffer.from(`after ${key}`).toString("base64url");
}

/** The key of the last item before this page. Undefined on the first page. */
export function cursorIn({ cursor }: { readonly cursor?: string | undefined }): string | undefined {
  if (cursor === undefined) return undefined;
  const [, key] = /^after (.*)$/s.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (key === undefined || cursorAt(key) !== cursor)
    throw new Problem(400, '"cursor" in the query must be the nextCursor of a page');
  return key;
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
