/**
 * The rows that a live table shows. They stay in position while the pointer or the focus is in the table, or
 * while its top is scrolled out of view.
 */
import type { RefObject } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { type ShownRow, type StableRows, toShownRows, updateInPlace } from "./stable-rows.ts";

export interface LiveRows<Row> extends StableRows<Row> {
  readonly showPending: () => void;
  /** For the frame of the table, which also contains the bar with the number of pending rows. */
  readonly frameProps: {
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
    readonly onFocusOut: () => void;
  };
}

interface LiveRowsOptions<Row> {
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly live: boolean;
  /** Search, sorting and filters. If they change, the new rows are shown at once. */
  readonly view: string;
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

export function useStableRows<Row>({ rows, rowKey, live, view, body }: LiveRowsOptions<Row>): LiveRows<Row> {
  const [, renderAgain] = useState(0);
  const pointed = useRef(false);
  const last = useRef<{ readonly view: string; readonly shown: readonly ShownRow<Row>[] }>({
    view,
    shown: [],
  });
  const fresh = useMemo(() => toShownRows(rows, rowKey), [rows]);

  const stable = live && last.current.view === view && last.current.shown.length > 0 && isRead(body, pointed);
  const { shown, pending } = stable ? updateInPlace(last.current.shown, fresh) : { shown: fresh, pending: 0 };
  last.current = { view, shown };

  const refresh = () => {
    if (live) renderAgain((count) => count + 1);
  };
  const frameProps = {
    onPointerEnter() {
      pointed.current = true;
    },
    onPointerLeave() {
      pointed.current = false;
      refresh();
    },
    onFocusOut: refresh,
  };
  const showPending = () => {
    last.current = { view, shown: [] };
    refresh();
  };
  return { shown, pending, showPending, frameProps };
}

function isRead(body: RefObject<HTMLTableSectionElement | null>, pointed: RefObject<boolean>): boolean {
  const element = body.current;
  if (!element) return false;
  return (
    pointed.current === true ||
    element.closest("table")?.contains(document.activeElement) === true ||
    element.getBoundingClientRect().top < 0
  );
}
