/**
 * The `<table>` itself: its head and the visible rows. A table whose rows can be opened or selected is a grid
 * for screen readers.
 */
import { useId } from "preact/hooks";
import { toggleAll, toggleOne, toggleRange } from "./selection.ts";
import { TableHead } from "./table-head.tsx";
import type { TableProps } from "./table-props.ts";
import { TableRow } from "./table-row.tsx";
import type { TableState } from "./use-table.ts";

interface PartProps<Row> {
  readonly table: TableProps<Row>;
  readonly state: TableState<Row>;
}

export function TableGrid<Row>({ table, state }: PartProps<Row>) {
  const { columns, bulk, onOpen, label } = table;
  const { sorting, sortBy, selection, select, shown, order, keys, chosen } = state;
  const id = useId();
  const interactive = Boolean(bulk || onOpen);
  const grid = {
    role: "grid",
    tabIndex: 0,
    onKeyDown: keys.onKeyDown,
    ...(bulk ? { "aria-multiselectable": true } : {}),
    ...(keys.active === undefined ? {} : { "aria-activedescendant": `${id}-${order.indexOf(keys.active)}` }),
  } as const;
  return (
    <table class="table" aria-label={label} aria-rowcount={shown.length + 1} {...(interactive ? grid : {})}>
      <TableHead
        columns={columns}
        sorting={sorting}
        onSort={sortBy}
        selected={bulk && (chosen.length === 0 ? "none" : chosen.length === shown.length ? "all" : "some")}
        onSelectAll={() => select(toggleAll(selection, order))}
      />
      <TableBody table={table} state={state} id={id} interactive={interactive} />
    </table>
  );
}

interface BodyProps<Row> extends PartProps<Row> {
  /** Rows have the ids `id-0`, `id-1` and so on. */
  readonly id: string;
  readonly interactive: boolean;
}

function TableBody<Row>({ table, state, id, interactive }: BodyProps<Row>) {
  const { columns, bulk, rowKey, rowName = rowKey } = table;
  const { selection, select, shown, order, window, keys, open } = state;
  const onSelect = (key: string, range: boolean) => {
    keys.setActive(key);
    select(range ? toggleRange(selection, key, order) : toggleOne(selection, key));
  };
  const onPress = (key: string) => {
    keys.setActive(key);
    open(key);
  };
  return (
    <tbody ref={state.body}>
      <Gap height={window.start * window.rowHeight} />
      {shown.slice(window.start, window.end).map((one, offset) => (
        <TableRow
          key={one.key}
          id={`${id}-${window.start + offset}`}
          shown={one}
          index={window.start + offset}
          columns={columns}
          name={rowName(one.row)}
          active={one.key === keys.active}
          open={one.key === table.open}
          selected={bulk ? selection.keys.has(one.key) : undefined}
          onSelect={onSelect}
          onPress={interactive ? onPress : undefined}
        />
      ))}
      <Gap height={(shown.length - window.end) * window.rowHeight} />
    </tbody>
  );
}

/** Takes the space of rows that are not rendered. */
function Gap({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    // One cell only: more cells than visible columns would add columns.
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row only fills space.
    <tr aria-hidden="true" class="table-gap" style={{ height: `${height}px` }}>
      <td />
    </tr>
  );
}
