/** A modal dialog (native). A destructive one lists in `children` what will be deleted. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import "./dialog.css";

export interface DialogProps {
  readonly open: boolean;
  readonly title: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
  /** Buttons at the end; the confirming one comes last. */
  readonly actions?: ComponentChildren;
  readonly size?: "normal" | "wide";
}

export function Dialog({ open, title, onClose, children, actions, size = "normal" }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    const before = document.activeElement;
    ref.current?.showModal();
    // The element is removed without `close()`, so the browser does not restore the focus.
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [open]);
  if (!open) return null;
  return (
    <dialog
      ref={ref}
      class={`dialog dialog-${size}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A browser may close it at the second Esc without asking. It closes only by `open`.
      onClose={() => ref.current?.showModal()}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={id}>
            <ForeignText text={title} />
          </h2>
        </header>
        <div class="dialog-content">{children}</div>
        <footer class="dialog-actions">
          {actions ?? <Button onClick={onClose}>{componentTexts.close}</Button>}
        </footer>
      </div>
    </dialog>
  );
}
