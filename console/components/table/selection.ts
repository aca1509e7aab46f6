/** Computes the selection of a table: single rows, ranges, all shown rows. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** Start of a range. */
  readonly anchor?: string | undefined;
}

export function toggleOne({ keys }: Selection, key: string): Selection {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/**
 * Gives all rows from the anchor to `key` the state of the anchor. A range that starts at a deselected row
 * deselects.
 */
export function toggleRange(selection: Selection, key: string, order: readonly string[]): Selection {
  const { keys, anchor } = selection;
  const from = anchor === undefined ? -1 : order.indexOf(anchor);
  const to = order.indexOf(key);
  if (anchor === undefined || from < 0 || to < 0) return toggleOne(selection, key);
  const next = new Set(keys);
  for (const one of order.slice(Math.min(from, to), Math.max(from, to) + 1)) {
    if (keys.has(anchor)) next.add(one);
    else next.delete(one);
  }
  return { keys: next, anchor };
}

/**
 * Selects all shown rows, or deselects them if all were selected. Rows that the search hides keep their
 * state.
 */
export function toggleAll({ keys, anchor }: Selection, order: readonly string[]): Selection {
  const next = new Set(keys);
  const all = order.every((key) => keys.has(key));
  for (const key of order) {
    if (all) next.delete(key);
    else next.add(key);
  }
  return { keys: next, anchor };
}
