/**
 * The sorting of the main table of a page, in its address: `sort=name`, or `sort=-calls` for the largest
 * first.
 */
import type { Sorting } from "../components/table/column.ts";
import { address, setQuery } from "../navigate.ts";

export function addressSorting(initial?: Sorting): {
  readonly sorting: Sorting | undefined;
  readonly onSort: (sorting: Sorting) => void;
} {
  const { sort } = address.value.query;
  const sorting =
    sort === undefined ? initial : { column: sort.replace(/^-/, ""), descending: sort.startsWith("-") };
  return {
    sorting,
    onSort: ({ column, descending }) => setQuery({ sort: `${descending ? "-" : ""}${column}` }),
  };
}
