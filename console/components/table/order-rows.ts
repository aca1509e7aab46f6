/** Filters and sorts the rows of a table. */
import type { Column, Sorting } from "./column.ts";

/** Returns the rows that contain every word of the search, sorted. */
export function orderRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { search = "", sorting }: { readonly search?: string | undefined; readonly sorting?: Sorting | undefined },
): readonly Row[] {
  return sortRows(filterRows(rows, columns, search), columns, sorting);
}

/** Of numbers and times one wants to see the largest first: `descends`. */
export function nextSorting(sorting: Sorting | undefined, column: string, descends: boolean): Sorting {
  return { column, descending: sorting?.column === column ? !sorting.descending : descends };
}

function filterRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  search: string,
): readonly Row[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  const values = columns.flatMap(({ value }) => (value ? [value] : []));
  return rows.filter((row) => {
    const text = values
      .map((value) => value(row) ?? "")
      .join("\n")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const value = columns.find(({ id }) => id === sorting?.column)?.value;
  if (!value || !sorting) return rows;
  const factor = sorting.descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, by: value(row) }));
  // Rows without a value come last in both directions.
  keyed.sort(
    (a, b) =>
      Number(a.by === undefined) - Number(b.by === undefined) ||
      factor * compareValues(a.by ?? "", b.by ?? ""),
  );
  return keyed.map(({ row }) => row);
}

const collator = new Intl.Collator("en", { numeric: true });

function compareValues(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
}
