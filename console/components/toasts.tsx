/**
 * Short messages about what just happened, with an optional undo button. Any module may call `toast()`; the
 * app renders `<Toasts/>` once.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { componentTexts } from "../texts/components.ts";
import { Button } from "./button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import { StatusShape } from "./status.tsx";
import "./toasts.css";

export interface Toast {
  readonly text: string;
  /** A failure stays until it is dismissed. */
  readonly kind?: "done" | "failed";
  readonly undo?: () => void;
  /** Label of the undo button. */
  readonly undoLabel?: string;
}

interface ShownToast extends Toast {
  readonly id: number;
}

const MAX_TOASTS = 4;
const SHOWN_MS = 6000;
const SHOWN_WITH_UNDO_MS = 12_000;

const shown = signal<readonly ShownToast[]>([]);
let lastId = 0;

export function toast(one: Toast): void {
  lastId += 1;
  shown.value = [...shown.value, { ...one, id: lastId }].slice(-MAX_TOASTS);
}

function dismiss(id: number): void {
  shown.value = shown.value.filter((one) => one.id !== id);
}

export function Toasts() {
  const [paused, setPaused] = useState(false);
  return (
    <section
      class="toasts"
      aria-label="Messages"
      aria-live="polite"
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocusIn={() => setPaused(true)}
      onFocusOut={() => setPaused(false)}
    >
      {shown.value.map((one) => (
        <ToastCard key={one.id} toast={one} paused={paused} />
      ))}
    </section>
  );
}

function ToastCard({
  toast: { id, text, kind = "done", undo, undoLabel },
  paused,
}: {
  toast: ShownToast;
  paused: boolean;
}) {
  useEffect(() => {
    if (paused || kind === "failed") return;
    const timer = setTimeout(() => dismiss(id), undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [paused, id, kind, undo]);
  return (
    <div class="toast" role={kind === "failed" ? "alert" : "status"}>
      <StatusShape state={kind === "failed" ? "bad" : "ok"} />
      <span class="toast-text">
        <ForeignText text={text} />
      </span>
      {undo && (
        <Button
          size="small"
          onClick={() => {
            dismiss(id);
            undo();
          }}
        >
          {undoLabel ?? componentTexts.undo}
        </Button>
      )}
      <Button size="small" kind="quiet" onClick={() => dismiss(id)}>
        {componentTexts.dismiss}
      </Button>
    </div>
  );
}
