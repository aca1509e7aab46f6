/** What is done with a server from more than one place. Each says how it went. */
import { hrefOf } from "../../address.ts";
import { send } from "../../api/client.ts";
import type { Server } from "../../api/types.ts";
import { toast } from "../../components/toasts.tsx";
import { beginLogin } from "../../parts/begin-login.ts";
import { said } from "../../said.ts";
import { serverTexts as texts } from "../../texts/servers.ts";
import { toastWithUndo } from "../../undo.ts";

/** Connects it anew. */
export async function restart({ uuid, name }: Pick<Server, "uuid" | "name">): Promise<void> {
  await said(async () => {
    const { connection } = await send("POST /mcp-servers/:uuid/connect", undefined, { params: { uuid } });
    const { connected, reason = "" } = connection;
    if (connected) toast({ text: texts.restarted(name) });
    else toast({ kind: "failed", text: texts.notRestarted(name, reason) });
  });
}

/** Leads to the login of a server that all share, and back to it. */
export async function logInAt({ uuid }: Pick<Server, "uuid">): Promise<void> {
  await beginLogin("all", uuid, hrefOf({ page: "servers", id: uuid, query: { back: "login" } }));
}

export async function switchServer(
  { uuid, name }: Pick<Server, "uuid" | "name">,
  disabled: boolean,
): Promise<void> {
  await said(async () => {
    await send("PATCH /mcp-servers/:uuid", { disabled }, { params: { uuid } });
    await toastWithUndo(disabled ? texts.turnedOff(name) : texts.turnedOn(name));
  });
}
