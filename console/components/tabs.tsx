/** A tab list with its panel. Arrow keys move between tabs. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import "./tabs.css";

export interface Tab {
  readonly id: string;
  readonly label: string;
  /** Number of items in the tab. */
  readonly count?: number;
}

export interface TabsProps {
  readonly tabs: readonly Tab[];
  readonly active: string;
  readonly onChange: (id: string) => void;
  /** Names the group for screen readers. */
  readonly label: string;
  /** Content of the active tab. */
  readonly children?: ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs({ tabs, active, onChange, label, children }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.id === active);
    const next =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? tabs.length - 1
          : at + (STEPS[event.key] ?? Number.NaN);
    const tab = tabs[(next + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    onChange(tab.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(tab.id)}"]`)?.focus();
  };
  useEffect(() => {
    // On a narrow screen the list scrolls. This centres the active tab.
    const shown = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    if (!list.current || !shown) return;
    list.current.scrollLeft = shown.offsetLeft - (list.current.clientWidth - shown.offsetWidth) / 2;
  }, [active]);
  return (
    <div class="tabs">
      <div ref={list} class="tabs-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            class="tab"
            id={`${id}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === active}
            aria-controls={children ? `${id}-panel` : undefined}
            tabIndex={tab.id === active ? 0 : -1}
            onClick={() => onChange(tab.id)}
          >
            {tab.label}
            {tab.count !== undefined && <span class="tab-count">{tab.count}</span>}
          </button>
        ))}
      </div>
      {children && (
        <div id={`${id}-panel`} class="tabs-panel" role="tabpanel" aria-labelledby={`${id}-${active}`}>
          {children}
        </div>
      )}
    </div>
  );
}
