/**
 * Keyboard control of a table: arrows, Home, End and Page move, Enter opens, Space selects, Shift selects a
 * range, Ctrl-A selects all.
 */
import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { type Selection, toggleAll, toggleOne, toggleRange } from "./selection.ts";
import { rowHeightIn } from "./use-virtual-window.ts";

export interface RowKeys {
  readonly active: string | undefined;
  readonly setActive: (key: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

interface RowKeysOptions {
  readonly order: readonly string[];
  readonly body: RefObject<HTMLTableSectionElement | null>;
  readonly selection: Selection | undefined;
  readonly onSelect: (selection: Selection) => void;
  readonly onOpen: ((key: string) => void) | undefined;
}

const PAGE = 15;
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE,
  PageUp: -PAGE,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

export function useRowKeys({ order, body, selection, onSelect, onOpen }: RowKeysOptions): RowKeys {
  const [active, setActive] = useState<string>();

  const move = (event: KeyboardEvent, step: number) => {
    const at = active === undefined ? -1 : order.indexOf(active);
    const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), order.length - 1);
    const key = order[next];
    if (key === undefined) return;
    setActive(key);
    scrollToRow(body.current, next);
    if (!event.shiftKey || !selection) return;
    const anchored =
      selection.anchor === undefined && active !== undefined ? toggleOne(selection, active) : selection;
    onSelect(toggleRange(anchored, key, order));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    // Buttons and fields inside cells handle their own keys.
    if (event.target !== event.currentTarget || event.altKey) return;
    const step = STEPS[event.key];
    if (step !== undefined) move(event, step);
    else if (event.key === "Enter" && active !== undefined && onOpen) onOpen(active);
    else if (selection && event.key === " " && active !== undefined)
      onSelect(event.shiftKey ? toggleRange(selection, active, order) : toggleOne(selection, active));
    else if (selection && event.key === "a" && (event.ctrlKey || event.metaKey))
      onSelect(toggleAll(selection, order));
    else if (selection && event.key === "Escape" && selection.keys.size > 0) onSelect({ keys: new Set() });
    else return;
    event.preventDefault();
  };

  return { active, setActive, onKeyDown };
}

/** Computes the position from the height of a row, because this one may not be rendered yet. */
function scrollToRow(body: HTMLTableSectionElement | null, index: number): void {
  if (!body) return;
  const rowHeight = rowHeightIn(body);
  const head = body.closest("table")?.tHead?.offsetHeight ?? rowHeight;
  const scroller = scrollerOf(body);
  const view =
    scroller === document.documentElement
      ? { top: 0, bottom: innerHeight }
      : scroller.getBoundingClientRect();
  const top = body.getBoundingClientRect().top + index * rowHeight;
  const above = top - (view.top + head + rowHeight);
  const below = top + 2 * rowHeight - view.bottom;
  if (above < 0) scroller.scrollBy(0, above);
  else if (below > 0) scroller.scrollBy(0, below);
}

function scrollerOf(element: HTMLElement): Element {
  for (let one = element.parentElement; one; one = one.parentElement)
    if (one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY))
      return one;
  return document.documentElement;
}
