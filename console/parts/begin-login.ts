/** Goes to the login page of a server, which returns to a path of the console. */
import { send } from "../api/client.ts";
import { runWithToast } from "../run-with-toast.ts";

/** `of`: the person's own login, or the one that all people share. */
export async function beginLogin(of: "me" | "all", uuid: string, returnTo: string): Promise<void> {
  await runWithToast(async () => {
    const { url } =
      of === "me"
        ? await send("POST /me/logins/:server", { returnTo }, { params: { server: uuid } })
        : await send("POST /mcp-servers/:uuid/login", { returnTo }, { params: { uuid } });
    location.assign(url);
  });
}
