/**
 * Keeps the rows of a live table in position while somebody reads: values change, new rows and new positions
 * wait.
 */
export interface ShownRow<Row> {
  readonly key: string;
  readonly row: Row;
  /** The row no longer exists, and keeps its position until nobody reads. */
  readonly removed: boolean;
}

export function toShownRows<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
): readonly ShownRow<Row>[] {
  return rows.map((row) => ({ key: rowKey(row), row, removed: false }));
}

export interface StableRows<Row> {
  readonly shown: readonly ShownRow<Row>[];
  /** Number of new rows that are not shown yet. */
  readonly pending: number;
}

/** Returns the rows of `before` in their positions, with the values of `fresh`. */
export function updateInPlace<Row>(
  before: readonly ShownRow<Row>[],
  fresh: readonly ShownRow<Row>[],
): StableRows<Row> {
  const byKey = new Map(fresh.map((one) => [one.key, one]));
  const shown = before.map((one) => byKey.get(one.key) ?? (one.removed ? one : { ...one, removed: true }));
  const known = new Set(before.map(({ key }) => key));
  return { shown, pending: fresh.reduce((sum, { key }) => sum + (known.has(key) ? 0 : 1), 0) };
}
