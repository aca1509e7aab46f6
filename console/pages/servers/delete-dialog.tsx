/** Deleting a server: says first what it takes along. */

import { send } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ForeignText } from "../../components/foreign-text.tsx";
import { CONFIG, useList } from "../../live/resource.ts";
import { Refused } from "../../shell/refused.tsx";
import { serverTexts } from "../../texts/servers.ts";
import { toastWithUndo } from "../../undo.ts";
import { useSending } from "../../use-sending.ts";

const texts = serverTexts.remove;

interface DeleteDialogProps {
  readonly server: Server;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteDialog({ server, open, onClose, onDeleted }: DeleteDialogProps) {
  const { uuid, name } = server;
  const namespaces = useList("/namespaces", open ? {} : undefined, CONFIG).value.value ?? [];
  const uses = namespaces.filter(({ servers }) => servers.some((one) => one.server === uuid));
  const sending = useSending();
  const remove = () =>
    sending.run(async () => {
      const takeOver = server.managedBy === "api" ? {} : { takeOver: true };
      await send("DELETE /mcp-servers/:uuid", undefined, { params: { uuid, force: true, ...takeOver } });
      onDeleted();
      await toastWithUndo(texts.done(name));
    });
  return (
    <Dialog
      open={open}
      title={texts.title(name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button kind="danger" busy={sending.busy} onClick={() => void remove()}>
            {texts.submit}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{texts.text}</p>
        <p>
          <ForeignText
            text={uses.length === 0 ? texts.alone : texts.from(uses.map((one) => one.name).join(", "))}
          />
        </p>
        <Refused problem={sending.problem} />
      </div>
    </Dialog>
  );
}
