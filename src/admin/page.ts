/** One page of a list. A cursor names the last item that was told, so it stays good while others come and go. */
import { Problem } from "./problem.ts";
import { LIST_QUERY } from "./route.ts";

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

export interface Paging<T> {
  /** Unique; the list is told in the order of these. */
  readonly keyOf: (item: T) => string;
  /** What `q` looks in. */
  readonly textOf?: (item: T) => string;
}

export function pageOf<T>(
  list: readonly T[],
  query: URLSearchParams,
  { keyOf, textOf = () => "" }: Paging<T>,
): ListPage<T> {
  return pageAfter(matching(list, query, textOf), query, { keyOf, limit: limitIn(query) });
}

/** Those that have the text of `q`. */
export function matching<T>(
  list: readonly T[],
  query: URLSearchParams,
  textOf: (item: T) => string,
): readonly T[] {
  const wanted = folded(query.get("q") ?? "");
  return wanted === "" ? list : list.filter((item) => folded(textOf(item)).includes(wanted));
}

export function pageAfter<T>(
  list: readonly T[],
  query: URLSearchParams,
  { keyOf, limit }: Pick<Paging<T>, "keyOf"> & { readonly limit: number },
): ListPage<T> {
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

export function limitIn(query: URLSearchParams): number {
  return Number(query.get("limit") ?? LIST_QUERY.limit.default);
}

export function cursorAt(key: string): string {
  return Buffer.from(`after ${key}`).toString("base64url");
}

/** The key of the item after which the page begins. */
export function cursorIn(query: URLSearchParams): string | undefined {
  const cursor = query.get("cursor");
  if (cursor === null) return undefined;
  const [, key] = /^after (.*)$/s.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (key === undefined || cursorAt(key) !== cursor)
    throw new Problem(400, '"cursor" in the query must be the nextCursor of a page');
  return key;
}

function folded(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
