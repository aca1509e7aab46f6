/**
 * Rows of one kind, up to many thousands: only what is in view is rendered. The whole table is one stop for Tab and has the
 * focus while arrow keys move between its rows.
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
import { useHeldRows } from "./table/use-held-rows.ts";
import { useRowKeys } from "./table/use-row-keys.ts";
import { useVirtualWindow } from "./table/use-virtual-window.ts";
import "./table.css";

export type { Column, Sorting };

export interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  /** Best a constant of its module: other columns are another table. */
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** Names a row for screen readers; its key by default. */
  readonly rowName?: (row: Row) => string;
  /** Enter and click. */
  readonly onOpen?: (row: Row) => void;
  /** Key of the row whose detail is open. */
  readonly open?: string | undefined;
  /** With `onSort` the sorting belongs to the page and its address, else this is how the table begins. */
  readonly sorting?: Sorting | undefined;
  readonly onSort?: (sorting: Sorting) => void;
  /** With `onSearch` a search field stands above the table; its text belongs to the page. */
  readonly search?: string | undefined;
  readonly onSearch?: (text: string) => void;
  readonly searchLabel?: string;
  /** Filters and buttons beside the search field. */
  readonly tools?: ComponentChildren;
  /** Buttons for the selected rows that are shown; with it rows can be selected. */
  readonly bulk?: (rows: readonly Row[], clear: () => void) => ComponentChildren;
  /** Rows come and change by themselves: what arrives while somebody reads waits under a bar. */
  readonly live?: boolean;
  /** Changes with filters of the page, so that a live table shows other rows at once. */
  readonly view?: string;
  /** Shown instead of the table where there are no rows at all. */
  readonly empty?: ComponentChildren;
}

const texts = componentTexts.table;
const NONE: Selection = { keys: new Set() };

export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, onOpen, onSearch, search, bulk, rowName = rowKey } = props;
  const id = useId();
  const table = useRef<HTMLTableElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const [own, setOwn] = useState<Sorting | undefined>(props.sorting);
  const [selection, select] = useState<Selection>(NONE);
  const sorting = props.onSort ? props.sorting : own;
  const ordered = useMemo(
    () => orderRows(rows, columns, { search, sorting }),
    [rows, columns, search, sorting?.column, sorting?.descending],
  );
  const view = JSON.stringify([search, sorting, props.view]);
  const { shown, news, release, reader } = useHeldRows({
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
      // One cell: more than are shown would make columns of their own.
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: it takes room and nothing else.
      <tr aria-hidden="true" class="table-gap" style={{ height: `${count * window.rowHeight}px` }}>
        <td />
      </tr>
    );
  return (
    <div class="table-frame panel" {...reader}>
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
      {news > 0 && (
        <button
          type="button"
          class="table-news"
          onClick={() => {
            release();
            table.current?.parentElement?.scrollIntoView({ block: "nearest" });
          }}
        >
          {texts.news(news)}
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
          onSort={(column) => (props.onSort ?? setOwn)(nextSorting(sorting, column))}
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
