/** An account of a running gateway, logged in with a cookie like in a browser. */
import type { Role } from "../../src/access/account.ts";
import { type EventReader, readEvents } from "./event-reader.ts";
import { type AskAs, apiClient, cookieIn, PASSWORD } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

export interface TeamPerson {
  readonly uuid: string;
  readonly email: string;
  readonly cookie: string;
  readonly ask: AskAs;
  /** Reads the events of an API path. */
  watch(method: "GET" | "POST", path: string, body?: object): Promise<EventReader>;
}

export async function teamPerson(
  { url, api }: Pick<TeamGateway, "url" | "api">,
  role: Role,
  more: { readonly email?: string; readonly groups?: readonly string[]; readonly origin?: string } = {},
): Promise<TeamPerson> {
  const { email = `${role}@example.org`, groups = [], origin = url } = more;
  const { body: created } = await api("POST", "/users", { email, role, groups });
  const code: string = created.invitation.url.split("/").at(-1);
  const cookie = cookieIn(await apiClient(url)("POST", `/invitations/${code}`, { password: PASSWORD }));
  const headers = { cookie, origin };
  return {
    uuid: created.uuid,
    email,
    cookie,
    ask: apiClient(url, headers),
    watch: (method, path, body) =>
      readEvents(`${url}/api/v1${path}`, {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
  };
}
