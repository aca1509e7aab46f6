/**
 * A dialog whose button sends a request: a form, or a warning before something is deleted. A refusal is shown
 * at its end.
 */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Form } from "../components/form.tsx";
import { shellTexts } from "../texts/shell.ts";
import type { Sending } from "../use-sending.ts";
import { Refused } from "./refused.tsx";

interface FormDialogProps {
  readonly title: string;
  /** Label of the button: a verb. */
  readonly submit: string;
  /** The action deletes something. */
  readonly danger?: boolean;
  readonly sending: Sending;
  readonly onSubmit: () => unknown;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Open while it is rendered. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, danger = false, sending, onSubmit, onClose, children } = props;
  const form = useId();
  return (
    <Dialog
      open
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{shellTexts.cancel}</Button>
          <Button type="submit" form={form} kind={danger ? "danger" : "primary"} busy={sending.busy}>
            {submit}
          </Button>
        </>
      }
    >
      <Form id={form} onSubmit={onSubmit}>
        {children}
        <Refused problem={sending.problem} />
      </Form>
    </Dialog>
  );
}
