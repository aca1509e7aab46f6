import { describe, expect, it } from "vitest";
import type { Column } from "./column.ts";
import { nextSorting, orderRows } from "./order-rows.ts";

interface Row {
  readonly name: string;
  readonly calls?: number;
}

const columns: readonly Column<Row>[] = [
  { id: "name", head: "Name", value: (row) => row.name },
  { id: "calls", head: "Calls", value: (row) => row.calls },
  { id: "buttons", head: "" },
];
const rows: readonly Row[] = [
  { name: "tool-10", calls: 9 },
  { name: "Tool-2", calls: 10 },
  { name: "other" },
];
const names = (shown: readonly Row[]) => shown.map(({ name }) => name);

describe("orderRows", () => {
  it("keeps the given order without sorting, or for a column without values", () => {
    expect(orderRows(rows, columns, {})).toBe(rows);
    expect(orderRows(rows, columns, { sorting: { column: "buttons", descending: false } })).toBe(rows);
  });

  it("sorts text with numbers in natural order, and rows without a value last", () => {
    const by = (column: string, descending: boolean) =>
      names(orderRows(rows, columns, { sorting: { column, descending } }));
    expect(by("name", false)).toEqual(["other", "Tool-2", "tool-10"]);
    expect(by("calls", false)).toEqual(["tool-10", "Tool-2", "other"]);
    expect(by("calls", true)).toEqual(["Tool-2", "tool-10", "other"]);
  });

  it("finds rows that contain all words, in any column", () => {
    expect(names(orderRows(rows, columns, { search: " tool  10 " }))).toEqual(["tool-10", "Tool-2"]);
    expect(names(orderRows(rows, columns, { search: "OTHER" }))).toEqual(["other"]);
    expect(names(orderRows(rows, columns, { search: "other 10" }))).toEqual([]);
  });

  it("nextSorting reverses the order on the second click, and begins with the largest number", () => {
    const first = nextSorting(undefined, "name", false);
    expect(first).toEqual({ column: "name", descending: false });
    expect(nextSorting(first, "name", false)).toEqual({ column: "name", descending: true });
    expect(nextSorting(first, "calls", true)).toEqual({ column: "calls", descending: true });
  });
});
