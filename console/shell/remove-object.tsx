/** The button at the end of an object's settings that deletes the object after a confirmation. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { toastWithUndo } from "../undo.ts";
import { useSending } from "../use-sending.ts";
import { FormDialog } from "./form-dialog.tsx";

interface RemoveObjectProps {
  readonly name: string;
  readonly texts: {
    readonly action: string;
    readonly title: (name: string) => string;
    readonly done: (name: string) => string;
  };
  readonly remove: () => Promise<unknown>;
  /** Called after the object was deleted. */
  readonly onRemoved: () => void;
  /** Lists what is deleted along with the object. */
  readonly children: ComponentChildren;
}

export function RemoveObject({ name, texts, remove, onRemoved, children }: RemoveObjectProps) {
  const asking = useSignal(false);
  const sending = useSending();
  const confirmed = async () => {
    if (!(await sending.run(remove))) return;
    onRemoved();
    await toastWithUndo(texts.done(name));
  };
  return (
    <div class="line danger-end">
      <Button kind="danger" onClick={() => (asking.value = true)}>
        {texts.action}
      </Button>
      {asking.value && (
        <FormDialog
          title={texts.title(name)}
          danger
          submit={texts.action}
          sending={sending}
          onSubmit={() => void confirmed()}
          onClose={() => (asking.value = false)}
        >
          {children}
        </FormDialog>
      )}
    </div>
  );
}
