/** The range of visible rows, updated when any ancestor of the table scrolls. */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { type Window, windowOf } from "./virtual-window.ts";

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
    let frame = 0;
    const measure = () => {
      frame = 0;
      if (!body.current) return;
      const { top } = body.current.getBoundingClientRect();
      const sample = body.current.querySelector<HTMLElement>("tr[data-key]");
      const rowHeight = sample?.offsetHeight || ROW_HEIGHT;
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
  // The list became shorter, so the last range may be beyond its end.
  return rows.end > count ? { ...initial(count), rowHeight: rows.rowHeight } : rows;
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
