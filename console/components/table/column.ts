/** The description of a table column. */
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  /** Default: shows `value` as untrusted text. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** The value for sorting and searching. Without it the column supports neither. */
  readonly value?: (row: Row) => string | number | undefined;
  /** `value` is a time: the newest come first. */
  readonly time?: boolean;
  /** `end` for numbers. */
  readonly align?: "start" | "end";
  /** CSS width. Columns without a width share the rest. */
  readonly width?: string;
  readonly mono?: boolean;
  /**
   * In a narrow table, where a row has two lines, this column is on the first line. Default: the first
   * column.
   */
  readonly primary?: boolean;
  /** In a narrow table this column has a third line for itself, such as one with buttons. */
  readonly below?: boolean;
  /** In a narrow table the head is shown before the value, as it is for numbers. */
  readonly named?: boolean;
  /** Hidden in narrow tables: `small` below 560 px, `medium` below 860 px, `large` below 1100 px. */
  readonly hideBelow?: "small" | "medium" | "large";
}

export interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}

export function cellClass<Row>({ align, mono, hideBelow }: Column<Row>, part?: "head"): string {
  return [align === "end" && "table-end", mono && !part && "mono", hideBelow && `table-hide-${hideBelow}`]
    .filter(Boolean)
    .join(" ");
}
