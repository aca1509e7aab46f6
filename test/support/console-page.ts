/** The console of a gateway that runs, open in a browser for somebody of a role. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../src/access/account.ts";
import { logIn, openPage } from "./browser-page.ts";
import { PASSWORD, plainly } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

interface Visit {
  readonly role?: Role;
  /** Of the same address: the same person, on another page. */
  readonly email?: string;
  readonly path?: string;
  readonly browser?: BrowserContextOptions;
}

export async function openConsole(
  gateway: TeamGateway,
  { role = "admin", email = `${role}@example.org`, path = "/", browser = {} }: Visit = {},
): Promise<Page> {
  await invited(gateway, email, role);
  const page = await openPage(`${gateway.url}${path}`, browser);
  await logIn(page, { email, password: PASSWORD });
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}

async function invited({ api, url }: TeamGateway, email: string, role: Role): Promise<void> {
  const { status, body } = await api("POST", "/users", { email, role });
  if (status === 409) return;
  const code: string = body.invitation.url.split("/").at(-1);
  await plainly(url)("POST", `/invitations/${code}`, { password: PASSWORD });
}
