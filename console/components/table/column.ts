/** What a table is told about its columns. */
import type { ComponentChildren } from "preact";

export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  /** Without it the value is shown, as text of others. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** What it is sorted and searched by; a column without it is neither. */
  readonly value?: (row: Row) => string | number | undefined;
  /** `end` for numbers. */
  readonly align?: "start" | "end";
  /** CSS width; those without share what is left. */
  readonly width?: string;
  readonly mono?: boolean;
  /** Where the table is narrow a row takes two lines: this column has the first; otherwise the first column has. */
  readonly primary?: boolean;
  /** On two lines its head stands in front of the value; so it does for numbers. */
  readonly named?: boolean;
  /** Left out where the table is narrower: `small` below 560 px, `medium` below 860 px, `large` below 1100 px. */
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
