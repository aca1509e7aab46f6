/** A gateway with a server of `credentials: "user"`, where each account logs in itself, and two accounts. */
import { Browser, type Page } from "./browser.ts";
import { type Issuer, issuer } from "./issuer.ts";
import { PASSWORD } from "./people.ts";
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { type TeamPerson, teamPerson } from "./team-person.ts";
import { type Temp, temp } from "./temp.ts";
import { type UserLoginServer, userLoginServer } from "./user-login-server.ts";

export interface UserLoginPerson extends TeamPerson {
  /** API key of the account for all endpoints. */
  readonly key: string;
  readonly browser: Browser;
  /** Opens the login URL of the API, consents, and returns the last page. */
  logIn(server?: string): Promise<Page>;
}

export interface UserLoginTeam {
  readonly folder: Temp;
  readonly gateway: TeamGateway;
  readonly api: TeamGateway["api"];
  readonly by: Issuer;
  readonly mail: UserLoginServer;
  /** Uuid of the server. */
  readonly uuid: string;
  readonly ada: UserLoginPerson;
  readonly bob: UserLoginPerson;
}

/** Endpoints `all` (aggregate), `main` (meta) and `tools` (metatools) with the server `mail`. */
export async function userLoginTeam(options: Parameters<typeof teamGateway>[1] = {}): Promise<UserLoginTeam> {
  const folder = temp();
  const gateway = await teamGateway(folder, options);
  const { api } = gateway;
  const by = await issuer();
  const mail = await userLoginServer(by);
  const created = await api("POST", "/mcp-servers", { name: "mail", url: mail.url, credentials: "user" });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "mail" }] });
  for (const [name, surface] of [
    ["all", "aggregate"],
    ["main", "meta"],
    ["tools", "metatools"],
  ])
    await api("POST", "/endpoints", { name, namespaces: ["team"], surface });
  const ada = await userLoginPerson(gateway, "ada@example.org");
  const bob = await userLoginPerson(gateway, "bob@example.org");
  return { folder, gateway, api, by, mail, uuid: created.body.uuid, ada, bob };
}

export async function userLoginPerson(
  gateway: TeamGateway,
  email: string,
  role: "member" | "admin" = "member",
): Promise<UserLoginPerson> {
  const person = await teamPerson(gateway, role, { email });
  const { body } = await person.ask("POST", "/api-keys", { name: email, endpoints: "all" });
  const browser = new Browser();
  const signIn = `${gateway.url}/oauth/logins/00000000-0000-7000-8000-000000000000`;
  await browser.submit(await browser.open(signIn), { email, password: PASSWORD });
  return {
    ...person,
    key: String(body["key"]),
    browser,
    async logIn(server = "mail") {
      const begun = await person.ask("POST", `/me/logins/${server}`, {});
      if (begun.status !== 200) throw new Error(JSON.stringify(begun.body));
      return await completeLogin(browser, String(begun.body["url"]));
    },
  };
}

/** Follows the redirects of a login. The issuer consents automatically. */
export async function completeLogin(browser: Browser, address: string): Promise<Page> {
  const left = await fetch(address, { redirect: "manual" });
  return await browser.open(left.headers.get("location") ?? "");
}
