/** What a page passes to a table. */
import type { ComponentChildren } from "preact";
import type { Column, Sorting } from "./column.ts";

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
  /** The rows match the search already, because the gateway searched. */
  readonly searched?: boolean;
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
