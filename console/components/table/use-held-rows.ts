/** Shown rows of a live table: held while its reader points at it, has the focus in it, or has scrolled past its top. */
import type { RefObject } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { freshRows, type Held, holdRows, type ShownRow } from "./held-rows.ts";

export interface HeldRows<Row> extends Held<Row> {
  readonly release: () => void;
  /** For the frame of the table: the bar that shows what waits is in it. */
  readonly reader: {
    readonly onPointerEnter: () => void;
    readonly onPointerLeave: () => void;
    readonly onFocusOut: () => void;
  };
}

interface Source<Row> {
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly live: boolean;
  /** Search, order, filters: where they change, the reader asked for other rows. */
  readonly view: string;
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

export function useHeldRows<Row>({ rows, rowKey, live, view, body }: Source<Row>): HeldRows<Row> {
  const [, again] = useState(0);
  const pointed = useRef(false);
  const kept = useRef<{ readonly view: string; readonly shown: readonly ShownRow<Row>[] }>({
    view,
    shown: [],
  });
  const fresh = useMemo(() => freshRows(rows, rowKey), [rows]);

  const holds = live && kept.current.view === view && kept.current.shown.length > 0 && isRead(body, pointed);
  const { shown, news } = holds ? holdRows(kept.current.shown, fresh) : { shown: fresh, news: 0 };
  kept.current = { view, shown };

  const refresh = () => {
    if (live) again((count) => count + 1);
  };
  const reader = {
    onPointerEnter() {
      pointed.current = true;
    },
    onPointerLeave() {
      pointed.current = false;
      refresh();
    },
    onFocusOut: refresh,
  };
  const release = () => {
    kept.current = { view, shown: [] };
    refresh();
  };
  return { shown, news, release, reader };
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
