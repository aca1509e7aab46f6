/** The state of a table: sorting, selection, the active row and the rows that it shows. */
import { useMemo, useRef, useState } from "preact/hooks";
import type { Sorting } from "./column.ts";
import { nextSorting, orderRows } from "./order-rows.ts";
import type { Selection } from "./selection.ts";
import type { TableProps } from "./table-props.ts";
import { useRowKeys } from "./use-row-keys.ts";
import { useStableRows } from "./use-stable-rows.ts";
import { useVirtualWindow } from "./use-virtual-window.ts";

export const NONE: Selection = { keys: new Set() };

export type TableState<Row> = ReturnType<typeof useTable<Row>>;

export function useTable<Row>(props: TableProps<Row>) {
  const { rows, columns, rowKey, onOpen, bulk } = props;
  const search = props.searched ? undefined : props.search;
  const body = useRef<HTMLTableSectionElement>(null);
  const [ownSorting, setOwnSorting] = useState<Sorting | undefined>(props.sorting);
  const [selection, select] = useState<Selection>(NONE);
  const sorting = props.onSort ? props.sorting : ownSorting;
  const sortBy = (column: string) => {
    const descends = columns.some(({ id, align, time }) => id === column && (align === "end" || time));
    (props.onSort ?? setOwnSorting)(nextSorting(sorting, column, descends));
  };
  const ordered = useMemo(
    () => orderRows(rows, columns, { search, sorting }),
    [rows, columns, search, sorting?.column, sorting?.descending],
  );
  const { shown, ...live } = useStableRows({
    rows: ordered,
    rowKey,
    live: props.live ?? false,
    view: JSON.stringify([props.search, sorting, props.view]),
    body,
  });
  const order = useMemo(() => shown.map(({ key }) => key), [shown]);
  const window = useVirtualWindow(body, shown.length);
  const open = (key: string) => {
    const row = shown.find((one) => one.key === key)?.row;
    if (row !== undefined) onOpen?.(row);
  };
  const keys = useRowKeys({
    order,
    body,
    selection: bulk && selection,
    onSelect: select,
    onOpen: onOpen && open,
  });
  const chosen = bulk ? shown.filter(({ key }) => selection.keys.has(key)) : [];
  const found = ordered.length;
  return { body, sorting, sortBy, selection, select, found, shown, live, order, window, open, keys, chosen };
}
