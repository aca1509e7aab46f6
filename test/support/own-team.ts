/** A gateway in front of a server where each account logs in for itself, and people who do. */
import { Browser, type Page } from "./browser.ts";
import { type Issuer, issuer } from "./issuer.ts";
import { type OwnServer, ownServer } from "./own-server.ts";
import { PASSWORD } from "./people.ts";
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { type TeamPerson, teamPerson } from "./team-person.ts";
import { type Temp, temp } from "./temp.ts";

export interface OwnPerson extends TeamPerson {
  /** Of the account, for all endpoints. */
  readonly key: string;
  readonly browser: Browser;
  /** Opens the address that the API gives, consents, and comes back. */
  logIn(server?: string): Promise<Page>;
}

export interface OwnTeam {
  readonly folder: Temp;
  readonly gateway: TeamGateway;
  readonly api: TeamGateway["api"];
  readonly by: Issuer;
  readonly mail: OwnServer;
  /** Uuid of the server. */
  readonly uuid: string;
  readonly ada: OwnPerson;
  readonly bob: OwnPerson;
}

/** Endpoints `all` (aggregate), `main` (meta) and `tools` (metatools) with the server `mail`. */
export async function ownTeam(options: Parameters<typeof teamGateway>[1] = {}): Promise<OwnTeam> {
  const folder = temp();
  const gateway = await teamGateway(folder, options);
  const { api } = gateway;
  const by = await issuer();
  const mail = await ownServer(by);
  const made = await api("POST", "/mcp-servers", { name: "mail", url: mail.url, credentials: "user" });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "mail" }] });
  for (const [name, surface] of [
    ["all", "aggregate"],
    ["main", "meta"],
    ["tools", "metatools"],
  ])
    await api("POST", "/endpoints", { name, namespaces: ["team"], surface });
  const ada = await ownPerson(gateway, "ada@example.org");
  const bob = await ownPerson(gateway, "bob@example.org");
  return { folder, gateway, api, by, mail, uuid: made.body.uuid, ada, bob };
}

export async function ownPerson(
  gateway: TeamGateway,
  email: string,
  role: "member" | "admin" = "member",
): Promise<OwnPerson> {
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
      return await cameBack(browser, String(begun.body["url"]));
    },
  };
}

/** The issuer consents by itself; the browser goes where it is sent. */
export async function cameBack(browser: Browser, address: string): Promise<Page> {
  const left = await fetch(address, { redirect: "manual" });
  return await browser.open(left.headers.get("location") ?? "");
}
