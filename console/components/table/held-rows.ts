/** Rows that stay where they are while somebody reads them: their values change, and what arrives or would move waits. */
export interface ShownRow<Row> {
  readonly key: string;
  readonly row: Row;
  /** It is no longer among the rows, and keeps its place until nobody reads. */
  readonly gone: boolean;
}

export function freshRows<Row>(rows: readonly Row[], rowKey: (row: Row) => string): readonly ShownRow<Row>[] {
  return rows.map((row) => ({ key: rowKey(row), row, gone: false }));
}

export interface Held<Row> {
  readonly shown: readonly ShownRow<Row>[];
  /** How many wait. */
  readonly news: number;
}

/** `fresh` in the places of `before`. */
export function holdRows<Row>(before: readonly ShownRow<Row>[], fresh: readonly ShownRow<Row>[]): Held<Row> {
  const byKey = new Map(fresh.map((one) => [one.key, one]));
  const shown = before.map((one) => byKey.get(one.key) ?? (one.gone ? one : { ...one, gone: true }));
  const there = new Set(before.map(({ key }) => key));
  return { shown, news: fresh.reduce((sum, { key }) => sum + (there.has(key) ? 0 : 1), 0) };
}
