/** A step that cannot be taken back: says what it takes along, and asks once. */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { shellTexts } from "../texts/shell.ts";
import type { Sending } from "../use-sending.ts";
import { Refused } from "./refused.tsx";

export interface ConfirmProps {
  readonly title: string;
  /** The verb of its button. */
  readonly action: string;
  readonly sending: Sending;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  /** What it takes along. */
  readonly children: ComponentChildren;
}

/** It is open while it is rendered. */
export function Confirm({ title, action, sending, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{shellTexts.cancel}</Button>
          <Button kind="danger" busy={sending.busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div class="stack">
        {children}
        <Refused problem={sending.problem} />
      </div>
    </Dialog>
  );
}
