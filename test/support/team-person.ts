/** Somebody with an account at a gateway that runs, logged in as in a browser. */
import type { Role } from "../../src/access/account.ts";
import { type EventReader, readEvents } from "./event-reader.ts";
import { type AskAs, cookieIn, PASSWORD, plainly } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

export interface TeamPerson {
  readonly uuid: string;
  readonly email: string;
  readonly cookie: string;
  readonly ask: AskAs;
  /** A path of the API that answers events. */
  watch(method: "GET" | "POST", path: string, body?: object): Promise<EventReader>;
}

export async function teamPerson(
  { url, api }: Pick<TeamGateway, "url" | "api">,
  role: Role,
  more: { readonly email?: string; readonly groups?: readonly string[]; readonly origin?: string } = {},
): Promise<TeamPerson> {
  const { email = `${role}@example.org`, groups = [], origin = url } = more;
  const { body: made } = await api("POST", "/users", { email, role, groups });
  const code: string = made.invitation.url.split("/").at(-1);
  const cookie = cookieIn(await plainly(url)("POST", `/invitations/${code}`, { password: PASSWORD }));
  const headers = { cookie, origin };
  return {
    uuid: made.uuid,
    email,
    cookie,
    ask: plainly(url, headers),
    watch: (method, path, body) =>
      readEvents(`${url}/api/v1${path}`, {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
  };
}
