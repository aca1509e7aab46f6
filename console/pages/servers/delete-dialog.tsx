/** The dialog that deletes a server. Shows first which namespaces lose it. */
import { send } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { ForeignText } from "../../components/foreign-text.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { FormDialog } from "../../shell/form-dialog.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { toastWithUndo } from "../../undo.ts";
import { useSending } from "../../use-sending.ts";

const texts = serverTexts.remove;

interface DeleteDialogProps {
  readonly server: Server;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteDialog({ server, onClose, onDeleted }: DeleteDialogProps) {
  const { uuid, name } = server;
  const namespaces = useList("/namespaces", {}, CONFIG).value.value ?? [];
  const usedIn = namespaces.filter(({ servers }) => servers.some((one) => one.server === uuid));
  const sending = useSending();
  const remove = () =>
    sending.run(async () => {
      const takeOver = server.managedBy === "api" ? {} : { takeOver: true };
      await send("DELETE /mcp-servers/:uuid", undefined, { params: { uuid, force: true, ...takeOver } });
      onDeleted();
      await toastWithUndo(texts.done(name));
    });
  return (
    <FormDialog
      danger
      title={texts.title(name)}
      submit={texts.submit}
      sending={sending}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>{texts.text}</p>
      <p>
        <ForeignText
          text={usedIn.length === 0 ? texts.alone : texts.from(usedIn.map((one) => one.name).join(", "))}
        />
      </p>
    </FormDialog>
  );
}
