/** What just happened, with an undo where there is one. `toast()` says it from anywhere; the shell renders `<Toasts/>` once. */
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
  /** What the undo button says. */
  readonly undoLabel?: string;
}

interface Shown extends Toast {
  readonly id: number;
}

const MOST = 4;
const SHOWN_MS = 6000;
const SHOWN_WITH_UNDO_MS = 12_000;

const shown = signal<readonly Shown[]>([]);
let last = 0;

export function toast(one: Toast): void {
  last += 1;
  shown.value = [...shown.value, { ...one, id: last }].slice(-MOST);
}

function dismiss(id: number): void {
  shown.value = shown.value.filter((one) => one.id !== id);
}

export function Toasts() {
  const [held, hold] = useState(false);
  return (
    <section
      class="toasts"
      aria-label="Messages"
      aria-live="polite"
      onMouseEnter={() => hold(true)}
      onMouseLeave={() => hold(false)}
      onFocusIn={() => hold(true)}
      onFocusOut={() => hold(false)}
    >
      {shown.value.map((one) => (
        <ToastCard key={one.id} toast={one} held={held} />
      ))}
    </section>
  );
}

function ToastCard({
  toast: { id, text, kind = "done", undo, undoLabel },
  held,
}: {
  toast: Shown;
  held: boolean;
}) {
  useEffect(() => {
    if (held || kind === "failed") return;
    const timer = setTimeout(() => dismiss(id), undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, id, kind, undo]);
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
