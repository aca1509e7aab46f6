/**
 * A table of up to many thousands of rows; it renders only the visible ones. The table is a single Tab stop and keeps the
 * focus while arrow keys move between rows.
 */
import type { ComponentChildren } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import type { Column, Sorting } from "./table/column.ts";
import { nextSorting, orderRows } from "./table/order-rows.ts";
import { type Selection, toggleAll, toggleOne, toggleRange } from "./table/selection.ts";
import { BulkBar, TableTools } from "./table/table-bars.tsx";
import { TableHead } from "./table/table-head.tsx";
import { TableRow } from "./table/table-row.tsx";
import { useRowKeys } from "./table/use-row-keys.ts";
import { useStableRows } from "./table/use-stable-rows.ts";
import { useVirtualWindow } from "./table/use-virtual-window.ts";
import "./table.css";

export type { Column, Sorting };

export interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  /** Pass a constant: a new array makes the table sort and filter again. */
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The name of a row for screen readers. Default: its key. */
  readonly rowName?: (row: Row) => string;
  /** Called on Enter and on click. */
  readonly onOpen?: (row: Row) => void;
  /** Key of the row whose details are open. */
  readonly open?: string | undefined;
  /** With `onSort` the page holds the sorting. Without it, this is the initial sorting. */
  readonly sorting?: Sorting | undefined;
  readonly onSort?: (sorting: Sorting) => void;
  /** With `onSearch` the table has a search field, whose text the page holds. */
  readonly search?: string | undefined;
  readonly onSearch?: (text: string) => void;
  readonly searchLabel?: string;
  /** Filters and buttons beside the search field. */
  readonly tools?: ComponentChildren;
  /** Buttons for the selected rows that are shown. Makes rows selectable. */
  readonly bulk?: (rows: readonly Row[], clear: () => void) => ComponentChildren;
  /** Rows arrive by themselves. New ones are held back behind a bar while somebody reads. */
  readonly live?: boolean;
  /** Changes with the filters of the page, so that a live table then shows the new rows at once. */
  readonly view?: string;
  /** Shown instead of a table without rows. */
  readonly empty?: ComponentChildren;
}

const texts = componentTexts.table;
const NONE: Selection = { keys: new Set() };

export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, onOpen, onSearch, search, bulk, rowName = rowKey } = props;
  const id = useId();
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const [ownSorting, setOwnSorting] = useState<Sorting | undefined>(props.sorting);
  const [selection, select] = useState<Selection>(NONE);
  const sorting = props.onSort ? props.sorting : ownSorting;
  const ordered = useMemo(
    () => orderRows(rows, columns, { search, sorting }),
    [rows, columns, search, sorting?.column, sorting?.descending],
  );
  const view = JSON.stringify([search, sorting, props.view]);
  const { shown, pending, showPending, frameProps } = useStableRows({
    rows: ordered,
    rowKey,
    live: props.live ?? false,
    view,
    body,
  });
  const order = useMemo(() => shown.map(({ key }) => key), [shown]);
  const window = useVirtualWindow(body, shown.length);
  const press = (key: string) => {
    const row = shown.find((one) => one.key === key)?.row;
    if (row !== undefined) onOpen?.(row);
  };
  const keys = useRowKeys({
    order,
    body,
    rowHeight: window.rowHeight,
    selection: bulk && selection,
    onSelect: select,
    onOpen: onOpen && press,
  });

  if (rows.length === 0 && shown.length === 0 && props.empty) return <div class="panel">{props.empty}</div>;

  const chosen = bulk ? shown.filter(({ key }) => selection.keys.has(key)) : [];
  const interactive = Boolean(bulk || onOpen);
  const grid = {
    role: "grid",
    tabIndex: 0,
    onKeyDown: keys.onKeyDown,
    ...(bulk ? { "aria-multiselectable": true } : {}),
    ...(keys.active === undefined ? {} : { "aria-activedescendant": `${id}-${order.indexOf(keys.active)}` }),
  } as const;
  const gap = (count: number) =>
    count > 0 && (
      // One cell only: more cells than visible columns would add columns.
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row only fills space.
      <tr aria-hidden="true" class="table-gap" style={{ height: `${count * window.rowHeight}px` }}>
        <td />
      </tr>
    );
  return (
    <div class="table-frame panel" {...frameProps}>
      {(onSearch || props.tools) && (
        <TableTools
          search={search}
          onSearch={onSearch}
          placeholder={props.searchLabel}
          shown={ordered.length}
          all={rows.length}
        >
          {props.tools}
        </TableTools>
      )}
      {pending > 0 && (
        <button
          type="button"
          class="table-news"
          onClick={() => {
            showPending();
            table.current?.parentElement?.scrollIntoView({ block: "nearest" });
          }}
        >
          {texts.news(pending)}
        </button>
      )}
      <table
        ref={table}
        class="table"
        aria-label={label}
        aria-rowcount={shown.length + 1}
        {...(interactive ? grid : {})}
      >
        <TableHead
          columns={columns}
          sorting={sorting}
          onSort={(column) => (props.onSort ?? setOwnSorting)(nextSorting(sorting, column))}
          selected={bulk && (chosen.length === 0 ? "none" : chosen.length === shown.length ? "all" : "some")}
          onSelectAll={() => select(toggleAll(selection, order))}
        />
        <tbody ref={body}>
          {gap(window.start)}
          {shown.slice(window.start, window.end).map((one, offset) => (
            <TableRow
              key={one.key}
              id={`${id}-${window.start + offset}`}
              shown={one}
              index={window.start + offset}
              columns={columns}
              name={rowName(one.row)}
              active={one.key === keys.active}
              open={one.key === props.open}
              selected={bulk ? selection.keys.has(one.key) : undefined}
              onSelect={(key, range) => {
                keys.setActive(key);
                select(range ? toggleRange(selection, key, order) : toggleOne(selection, key));
              }}
              onPress={
                interactive
                  ? (key) => {
                      keys.setActive(key);
                      press(key);
                    }
                  : undefined
              }
            />
          ))}
          {gap(shown.length - window.end)}
        </tbody>
      </table>
      {shown.length === 0 && <p class="table-none">{rows.length === 0 ? texts.none : texts.noMatch}</p>}
      {bulk && selection.keys.size > 0 && (
        <BulkBar
          selected={chosen.length}
          hidden={selection.keys.size - chosen.length}
          onClear={() => select(NONE)}
        >
          {bulk(
            chosen.map(({ row }) => row),
            () => select(NONE),
          )}
        </BulkBar>
      )}
    </div>
  );
}
