/** The range of visible rows, updated when any ancestor of the table scrolls. */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { RENDER_ALL_UP_TO, type Window, windowOf } from "./virtual-window.ts";

const ROW_HEIGHT = 32;

export interface VirtualRows extends Window {
  readonly rowHeight: number;
}

export function useVirtualWindow(
  body: RefObject<HTMLTableSectionElement | null>,
  count: number,
): VirtualRows {
  const [rows, setRows] = useState<VirtualRows>(() => initial(count));
  useLayoutEffect(() => {
    // To measure means a layout of the page, for each table.
    if (count <= RENDER_ALL_UP_TO) return undefined;
    let frame = 0;
    const measure = () => {
      frame = 0;
      if (!body.current) return;
      const { top } = body.current.getBoundingClientRect();
      const rowHeight = rowHeightIn(body.current);
      const next = { ...windowOf({ count, rowHeight, top, height: innerHeight }), rowHeight };
      setRows((before) => (same(before, next) ? before : next));
    };
    const schedule = () => {
      frame ||= requestAnimationFrame(measure);
    };
    measure();
    // Capturing catches scroll events of every ancestor.
    document.addEventListener("scroll", schedule, { capture: true, passive: true });
    addEventListener("resize", schedule);
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener("scroll", schedule, { capture: true });
      removeEventListener("resize", schedule);
    };
  }, [count]);
  // The list became shorter, so the last range may be beyond its end, or all of it is rendered.
  return rows.end > count || count <= RENDER_ALL_UP_TO
    ? { ...initial(count), rowHeight: rows.rowHeight }
    : rows;
}

export function rowHeightIn(body: HTMLTableSectionElement): number {
  return body.querySelector<HTMLElement>("tr[data-key]")?.offsetHeight || ROW_HEIGHT;
}

function initial(count: number): VirtualRows {
  return {
    ...windowOf({ count, rowHeight: ROW_HEIGHT, top: 0, height: innerHeight }),
    rowHeight: ROW_HEIGHT,
  };
}

function same(a: VirtualRows, b: VirtualRows): boolean {
  return a.start === b.start && a.end === b.end && a.rowHeight === b.rowHeight;
}
