/** One row. The table, not the row, has the focus and handles keys. */
import { componentTexts } from "../../texts/components.ts";
import { ForeignText } from "../foreign-text.tsx";
import { type Column, cellClass } from "./column.ts";
import type { ShownRow } from "./stable-rows.ts";

export interface TableRowProps<Row> {
  readonly id: string;
  readonly shown: ShownRow<Row>;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly name: string;
  readonly active: boolean;
  readonly open: boolean;
  /** undefined: rows cannot be selected. */
  readonly selected: boolean | undefined;
  readonly onSelect: (key: string, range: boolean) => void;
  readonly onPress: ((key: string) => void) | undefined;
}

export function TableRow<Row>(props: TableRowProps<Row>) {
  const { shown, columns, selected, onSelect, onPress } = props;
  const { key, row, removed } = shown;
  const primary = columns.find((column) => column.primary) ?? columns[0];
  return (
    <tr
      id={props.id}
      data-key={key}
      class={`${props.active ? "table-active" : ""}${removed ? " table-gone" : ""}`}
      aria-rowindex={props.index + 2}
      aria-selected={selected}
      aria-current={props.open || undefined}
      onClick={(event) => {
        const pressed = event.target as Element;
        if (!onPress || pressed.closest("a, button, input, select, textarea, label, summary, [popover]"))
          return;
        // A click that ends a text selection does not open the row.
        if (getSelection()?.type !== "Range") onPress(key);
      }}
    >
      {selected !== undefined && (
        <td class="table-select">
          <input
            type="checkbox"
            class="checkbox"
            tabIndex={-1}
            aria-label={componentTexts.table.select(props.name)}
            checked={selected}
            onClick={(event) => onSelect(key, event.shiftKey)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.id}
          class={`${cellClass(column)}${column === primary ? " table-primary" : ""}${column.below ? " table-below" : ""}`}
          data-head={(column.named ?? column.align === "end") ? column.head : undefined}
        >
          {column.cell ? column.cell(row) : <ForeignText text={String(column.value?.(row) ?? "")} />}
        </td>
      ))}
    </tr>
  );
}
