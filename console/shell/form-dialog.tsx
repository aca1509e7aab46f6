/** A dialog with a form that is sent to the gateway: by its button or the Enter key, with what was refused below the fields. */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { shellTexts } from "../texts/shell.ts";
import type { Sending } from "../use-sending.ts";
import { Refused } from "./refused.tsx";

interface FormDialogProps {
  readonly title: string;
  /** What the button says. */
  readonly submit: string;
  readonly sending: Sending;
  readonly onSubmit: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function FormDialog({ title, submit, sending, onSubmit, onClose, children }: FormDialogProps) {
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{shellTexts.cancel}</Button>
          <Button kind="primary" busy={sending.busy} onClick={() => void onSubmit()}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit();
        }}
      >
        {children}
        <Refused problem={sending.problem} />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
