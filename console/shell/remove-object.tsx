/** The button at the end of an object's settings that deletes it, after it was asked whether. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { toast } from "../components/toasts.tsx";
import { useSending } from "../use-sending.ts";
import { Confirm } from "./confirm.tsx";

interface RemoveObjectProps {
  readonly name: string;
  readonly texts: {
    readonly action: string;
    readonly title: (name: string) => string;
    readonly done: (name: string) => string;
  };
  readonly remove: () => Promise<unknown>;
  /** It is gone. */
  readonly onRemoved: () => void;
  /** What will be gone with it. */
  readonly children: ComponentChildren;
}

export function RemoveObject({ name, texts, remove, onRemoved, children }: RemoveObjectProps) {
  const asking = useSignal(false);
  const sending = useSending();
  const confirmed = async () => {
    if (!(await sending.run(remove))) return;
    toast({ text: texts.done(name) });
    onRemoved();
  };
  return (
    <div class="line danger-end">
      <Button kind="danger" onClick={() => (asking.value = true)}>
        {texts.action}
      </Button>
      {asking.value && (
        <Confirm
          title={texts.title(name)}
          action={texts.action}
          sending={sending}
          onConfirm={() => void confirmed()}
          onClose={() => (asking.value = false)}
        >
          {children}
        </Confirm>
      )}
    </div>
  );
}
