/**
 * Shows details beside a list. On a wide screen the list stays usable; on a narrow one the drawer covers it
 * and is modal.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { useTitle } from "../title.ts";
import { Button } from "./button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./drawer.css";

export interface DrawerProps {
  readonly title: string;
  /** Monospaced title, for ids and names. */
  readonly titleMono?: boolean;
  /** Below the title: state, kind, parent. */
  readonly subtitle?: ComponentChildren;
  readonly onClose: () => void;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly size?: "normal" | "wide";
}

const NARROW = "(max-width: 800px)";

/** Open while it is rendered: the address of the page decides. */
export function Drawer(props: DrawerProps) {
  const { title, subtitle, onClose, actions, children, size = "normal" } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useTitle(title);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (matchMedia(NARROW).matches) dialog?.showModal();
    else dialog?.show();
    dialog?.querySelector<HTMLElement>(".drawer-title")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || otherDialogOpen(ref.current)) return;
      event.preventDefault();
      close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <dialog
      ref={ref}
      class={`drawer drawer-${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header class="drawer-head">
        <div class="drawer-heading">
          <h2 id={id} class={`drawer-title${props.titleMono ? " mono" : ""}`} tabIndex={-1}>
            <ForeignText text={title} />
          </h2>
          {subtitle && (
            <div class="drawer-subtitle">
              {typeof subtitle === "string" ? <ForeignText text={subtitle} /> : subtitle}
            </div>
          )}
        </div>
        {actions && <div class="drawer-actions">{actions}</div>}
        <div class="drawer-close">
          <Button kind="quiet" onClick={onClose}>
            {componentTexts.close}
          </Button>
        </div>
      </header>
      <div class="drawer-content">{children}</div>
    </dialog>
  );
}

/** Escape closes only the topmost dialog or popover. */
function otherDialogOpen(self: HTMLDialogElement | null): boolean {
  return [...document.querySelectorAll("dialog:modal, [popover]:popover-open")].some((one) => one !== self);
}
