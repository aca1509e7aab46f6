/** Shows a secret that is never shown again: a key or a link. */
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { CopyLine } from "../components/empty-state.tsx";

interface ShownOnceProps {
  readonly texts: { readonly title: string; readonly done: string };
  /** The secret, with a copy button. */
  readonly line: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function ShownOnce({ texts, line, text, onClose, children }: ShownOnceProps) {
  return (
    <Dialog
      open
      title={texts.title}
      // Only the button closes it: Esc by habit would lose the secret.
      onClose={() => {}}
      actions={
        <Button kind="primary" onClick={onClose}>
          {texts.done}
        </Button>
      }
    >
      <p>{text}</p>
      <CopyLine text={line} />
      {children}
    </Dialog>
  );
}
