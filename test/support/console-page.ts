/** Opens the console of a gateway in a browser, logged in with a role. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../src/access/account.ts";
import { logIn, openPage } from "./browser-page.ts";
import { apiClient, PASSWORD } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

interface ConsoleOptions {
  readonly role?: Role;
  /** The same address in two calls means the same account. */
  readonly email?: string;
  readonly path?: string;
  readonly browser?: BrowserContextOptions;
}

export async function openConsole(
  gateway: TeamGateway,
  { role = "admin", email = `${role}@example.org`, path = "/", browser = {} }: ConsoleOptions = {},
): Promise<Page> {
  await ensureAccount(gateway, email, role);
  const page = await openPage(`${gateway.url}${path}`, browser);
  await logIn(page, { email, password: PASSWORD });
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}

async function ensureAccount({ api, url }: TeamGateway, email: string, role: Role): Promise<void> {
  const { status, body } = await api("POST", "/users", { email, role });
  if (status === 409) return;
  const code: string = body.invitation.url.split("/").at(-1);
  await apiClient(url)("POST", `/invitations/${code}`, { password: PASSWORD });
}
