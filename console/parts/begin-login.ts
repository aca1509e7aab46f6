/** Leads to the login at a server, and back to a path of this console. */
import { send } from "../api/client.ts";
import { said } from "../said.ts";

/** `of`: for oneself, or for everybody. */
export async function beginLogin(of: "me" | "all", uuid: string, returnTo: string): Promise<void> {
  await said(async () => {
    const { url } =
      of === "me"
        ? await send("POST /me/logins/:server", { returnTo }, { params: { server: uuid } })
        : await send("POST /mcp-servers/:uuid/login", { returnTo }, { params: { uuid } });
    location.assign(url);
  });
}
