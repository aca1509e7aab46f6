/** The window of rows in view, kept while anything around the table scrolls. */
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
    let asked = 0;
    const look = () => {
      asked = 0;
      if (!body.current) return;
      const { top } = body.current.getBoundingClientRect();
      const sample = body.current.querySelector<HTMLElement>("tr[data-key]");
      const rowHeight = sample?.offsetHeight || ROW_HEIGHT;
      const next = { ...windowOf({ count, rowHeight, top, height: innerHeight }), rowHeight };
      setRows((before) => (same(before, next) ? before : next));
    };
    const ask = () => {
      asked ||= requestAnimationFrame(look);
    };
    look();
    // Captured: whichever ancestor scrolls.
    document.addEventListener("scroll", ask, { capture: true, passive: true });
    addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(asked);
      document.removeEventListener("scroll", ask, { capture: true });
      removeEventListener("resize", ask);
    };
  }, [count]);
  // Fewer rows than a moment ago: what was asked for then may not be there.
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
