/** Which rows are selected: by one, by range, all that are shown. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** Where a range begins. */
  readonly anchor?: string | undefined;
}

export function toggleOne({ keys }: Selection, key: string): Selection {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return { keys: next, anchor: key };
}

/** From the anchor to `key`, as the anchor is: a range that begins at a row just cleared clears. */
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

/** All that are shown; none of them where all were selected. Those that the search hides stay as they are. */
export function toggleAll({ keys, anchor }: Selection, order: readonly string[]): Selection {
  const next = new Set(keys);
  const all = order.every((key) => keys.has(key));
  for (const key of order) {
    if (all) next.delete(key);
    else next.add(key);
  }
  return { keys: next, anchor };
}
