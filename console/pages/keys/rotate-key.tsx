/** The dialog that gives a key a new text and shows it once. */
import { useSignal } from "@preact/signals";
import { send } from "../../api/client.ts";
import type { ApiKey } from "../../api/types.ts";
import { SelectField } from "../../components/select-field.tsx";
import { refresh } from "../../live/resource.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { ShownOnce } from "../../shell/shown-once.tsx";
import { keysTexts } from "../../texts/keys.ts";
import { useSending } from "../../use-sending.ts";

const texts = keysTexts.rotate;

interface RotateKeyProps {
  readonly of: Pick<ApiKey, "uuid" | "name">;
  readonly onClose: () => void;
}

export function RotateKey({ of: { uuid, name }, onClose }: RotateKeyProps) {
  const hours = useSignal("24");
  const made = useSignal<string | undefined>(undefined);
  const sending = useSending();
  const submit = () =>
    sending.run(async () => {
      const body = { overlapHours: Number(hours.value) };
      const { key } = await send("POST /api-keys/:uuid/rotate", body, { params: { uuid } });
      made.value = key ?? "";
      refresh("/api-keys");
    });
  if (made.value !== undefined)
    return (
      <ShownOnce texts={keysTexts.made} text={keysTexts.made.text} line={made.value} onClose={onClose} />
    );
  return (
    <FormDialog
      title={texts.title(name)}
      submit={texts.action}
      sending={sending}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{texts.text}</p>
      <SelectField
        label={texts.overlap}
        value={hours.value}
        options={Object.entries(texts.overlaps).map(([value, label]) => ({ value, label }))}
        onInput={(value) => (hours.value = value)}
      />
    </FormDialog>
  );
}
