/** A button that opens a menu (native popover). Arrow keys move the focus, letters jump to an entry. */
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import type { ButtonProps } from "./button.tsx";
import "./menu.css";

export interface MenuItem {
  readonly label: string;
  /** A second line: what the entry does, or why it is disabled. */
  readonly hint?: string;
  readonly onSelect?: () => void;
  /** Renders a link. */
  readonly href?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** For a radio group: the checked entry has a mark. */
  readonly checked?: boolean;
}

export interface MenuProps {
  readonly children: ComponentChildren;
  /** Name for screen readers, if the visible text is not enough. */
  readonly label?: string;
  /** `line` separates groups. */
  readonly items: readonly (MenuItem | "line")[];
  readonly kind?: ButtonProps["kind"];
  readonly size?: ButtonProps["size"];
}

export function Menu({ children, label, items, kind = "plain", size = "normal" }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button button-${kind} menu-opener${size === "small" ? " button-small" : ""}`}
        popovertarget={id}
        aria-haspopup="menu"
        aria-label={label}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          list.current?.showPopover();
        }}
      >
        {children}
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        aria-label={label ?? (typeof children === "string" ? children : undefined)}
        onBeforeToggle={() => button.current && list.current && placeBeside(list.current, button.current)}
        onToggle={(event) => {
          if (event.newState === "open") entries(list.current)[0]?.focus();
        }}
        onKeyDown={(event) => moveFocus(event, list.current)}
      >
        {items.map((item, index) =>
          item === "line" ? (
            <hr key={index} class="menu-line" />
          ) : (
            <Entry key={item.label} item={item} onDone={() => list.current?.hidePopover()} />
          ),
        )}
      </div>
    </>
  );
}

function Entry({ item, onDone }: { readonly item: MenuItem; readonly onDone: () => void }) {
  const { label, hint, href, disabled, checked } = item;
  const shared = {
    class: `menu-item${item.danger ? " menu-danger" : ""}`,
    role: checked === undefined ? "menuitem" : "menuitemradio",
    tabIndex: -1,
    "aria-checked": checked,
    "aria-disabled": disabled || undefined,
    onClick: () => {
      if (disabled) return;
      onDone();
      item.onSelect?.();
    },
  } as const;
  const text = (
    <>
      <span>{label}</span>
      {hint && <span class="menu-hint">{hint}</span>}
    </>
  );
  if (href !== undefined && !disabled)
    return (
      <a {...shared} href={href}>
        {text}
      </a>
    );
  return (
    <button type="button" {...shared}>
      {text}
    </button>
  );
}

function entries(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>(".menu-item") ?? [])];
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const all = entries(list);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const step = STEPS[event.key];
  let next: HTMLElement | undefined;
  if (step) next = all[(at + step + all.length) % all.length];
  else if (event.key === "Home") next = all[0];
  else if (event.key === "End") next = all.at(-1);
  else if (event.key === "Tab") list?.hidePopover();
  else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== " ")
    next = [...all.slice(at + 1), ...all.slice(0, at + 1)].find((one) =>
      one.textContent?.toLowerCase().startsWith(event.key.toLowerCase()),
    );
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * Positions a popover beside its opener, on the side with more room. Works before the size of the popover is
 * known.
 */
const GAP = 4;

function placeBeside(floating: HTMLElement, opener: HTMLElement): void {
  const { top, bottom, left, right } = opener.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const below = bottom < innerHeight * 0.6;
  const fromLeft = left + right < width;
  const { style } = floating;
  style.top = below ? px(bottom + GAP) : "auto";
  style.bottom = below ? "auto" : px(innerHeight - top + GAP);
  style.left = fromLeft ? px(Math.max(left, GAP)) : "auto";
  style.right = fromLeft ? "auto" : px(Math.max(width - right, GAP));
  style.maxHeight = px((below ? innerHeight - bottom : top) - 2 * GAP);
}

function px(value: number): string {
  return `${Math.round(value)}px`;
}
