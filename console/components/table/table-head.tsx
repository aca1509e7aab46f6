/** The head of a table: column names with sort buttons, and the checkbox that selects all rows. */
import { useEffect, useRef } from "preact/hooks";
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";
import { type Column, cellClass, type Sorting } from "./column.ts";

export interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sorting: Sorting | undefined;
  readonly onSort: (column: string) => void;
  /** How many of the shown rows are selected; undefined: rows cannot be selected. */
  readonly selected: "none" | "some" | "all" | undefined;
  readonly onSelectAll: () => void;
}

export function TableHead<Row>({ columns, sorting, onSort, selected, onSelectAll }: TableHeadProps<Row>) {
  return (
    <thead>
      <tr>
        {selected && (
          <th class="table-select" scope="col">
            <SelectAll selected={selected} onSelectAll={onSelectAll} />
          </th>
        )}
        {columns.map((column) => (
          <th
            key={column.id}
            scope="col"
            class={cellClass(column, "head")}
            style={column.width ? { width: column.width } : {}}
            aria-sort={
              sorting?.column === column.id ? (sorting.descending ? "descending" : "ascending") : undefined
            }
          >
            {column.value ? (
              <button type="button" class="table-sort" onClick={() => onSort(column.id)}>
                <ForeignText text={column.head} />
              </button>
            ) : (
              column.head || <span class="for-screen-readers">{componentTexts.table.actions}</span>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function SelectAll({
  selected,
  onSelectAll,
}: {
  selected: "none" | "some" | "all";
  onSelectAll: () => void;
}) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = selected === "some";
  }, [selected]);
  return (
    <input
      ref={box}
      type="checkbox"
      class="checkbox"
      aria-label={componentTexts.table.selectAll}
      checked={selected === "all"}
      onChange={onSelectAll}
    />
  );
}
