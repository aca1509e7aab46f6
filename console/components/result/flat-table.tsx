/** Shows a list of flat objects as a table that can be sorted and searched. */
import { useMemo, useState } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { type Column, Table } from "../table.tsx";
import { visibleText } from "../visible-text.ts";
import type { FlatRow, FlatRows } from "./flat-rows.ts";

/** A table with at most this many rows needs no search field. */
const MAX_WITHOUT_SEARCH = 12;

export function FlatTable({ rows: { columns, numbers, rows } }: { readonly rows: FlatRows }) {
  const [search, setSearch] = useState("");
  const shown = useMemo(
    () =>
      columns.map((name, at): Column<FlatRow> => {
        const isNumber = numbers.has(name);
        return {
          id: name,
          head: visibleText(name),
          cell: ({ values }) => <span title={values.get(name)}>{visibleText(values.get(name) ?? "")}</span>,
          value: ({ values }) => (isNumber ? Number(values.get(name)) : values.get(name)),
          align: isNumber && at > 0 ? "end" : "start",
          ...(at > 5 ? { hideBelow: "medium" } : at > 2 ? { hideBelow: "small" } : {}),
        };
      }),
    [columns, numbers],
  );
  return (
    <Table
      label={componentTexts.result.table}
      rows={rows}
      columns={shown}
      rowKey={({ at }) => String(at)}
      search={search}
      {...(rows.length > MAX_WITHOUT_SEARCH ? { onSearch: setSearch } : {})}
    />
  );
}
