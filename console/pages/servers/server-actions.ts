/** Actions on a server that several pages use. Each shows its result as a toast. */
import { hrefOf } from "../../address.ts";
import { send } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { beginLogin } from "../../parts/begin-login.ts";
import { runWithToast } from "../../run-with-toast.ts";
import { serverTexts as texts } from "../../texts/servers.ts";
import { toastWithUndo } from "../../undo.ts";

/** Connects a server again. */
export async function restart({ uuid, name }: Pick<Server, "uuid" | "name">): Promise<void> {
  await runWithToast(async () => {
    const { connection } = await send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } });
    const { connected, reason = "" } = connection;
    if (connected) toast({ text: texts.restarted(name) });
    else toast({ kind: "failed", text: texts.notRestarted(name, reason) });
  });
}

/** Goes to the shared login of a server, which returns to the server's drawer. */
export async function logInAt({ uuid }: Pick<Server, "uuid">): Promise<void> {
  await beginLogin("all", uuid, hrefOf({ page: "servers", id: uuid, query: { back: "login" } }));
}

export async function switchServer(
  { uuid, name }: Pick<Server, "uuid" | "name">,
  disabled: boolean,
): Promise<void> {
  await runWithToast(async () => {
    await send("PATCH /mcp-servers/:uuid", { disabled }, { params: { uuid } });
    await toastWithUndo(disabled ? texts.turnedOff(name) : texts.turnedOn(name));
  });
}
