/** A question that must be answered first: the native modal dialog. Destructive ones say in `children` what they take along. */
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
  /** Buttons at its end; the one that does it comes last. */
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
    // It goes without being closed, so the browser does not give the focus back.
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
