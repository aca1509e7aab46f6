/**
 * A table of up to many thousands of rows; it renders only the visible ones. The table is a single Tab stop
 * and keeps the focus while arrow keys move between rows.
 */
import { componentTexts } from "../texts/components.ts";
import type { Column } from "./table/column.ts";
import { BulkBar, TableTools } from "./table/table-bars.tsx";
import { TableGrid } from "./table/table-grid.tsx";
import type { TableProps } from "./table/table-props.ts";
import { NONE, useTable } from "./table/use-table.ts";
import "./table.css";

export type { Column, TableProps };

const texts = componentTexts.table;

export function Table<Row>(props: TableProps<Row>) {
  const { rows, onSearch, search, bulk } = props;
  const state = useTable(props);
  const { shown, live, selection, chosen } = state;
  const clear = () => state.select(NONE);
  if (rows.length === 0 && shown.length === 0 && props.empty) return <div class="panel">{props.empty}</div>;
  return (
    <div class="table-frame panel" {...live.frameProps}>
      {(onSearch || props.tools || props.live) && (
        <TableTools
          search={search}
          onSearch={onSearch}
          placeholder={props.searchLabel}
          shown={state.found}
          all={rows.length}
          news={props.live ? live : undefined}
        >
          {props.tools}
        </TableTools>
      )}
      <TableGrid table={props} state={state} />
      {shown.length === 0 && (
        <p class="table-none">{rows.length > 0 ? texts.noMatch : props.tools ? texts.noFit : texts.none}</p>
      )}
      {bulk && selection.keys.size > 0 && (
        <BulkBar selected={chosen.length} hidden={selection.keys.size - chosen.length} onClear={clear}>
          {bulk(
            chosen.map(({ row }) => row),
            clear,
          )}
        </BulkBar>
      )}
    </div>
  );
}
