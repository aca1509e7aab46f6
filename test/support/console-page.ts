/** Opens the console of a gateway in a browser, logged in with a role. */
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../src/access/account.ts";
import { openPage } from "./browser-page.ts";
import { apiClient, cookieIn, PASSWORD } from "./people.ts";
import type { TeamGateway } from "./team-gateway.ts";

interface ConsoleOptions {
  readonly role?: Role;
  /** The same address in two calls means the same account. */
  readonly email?: string;
  readonly path?: string;
  readonly browser?: BrowserContextOptions;
}

export async function openConsole(
  gateway: Pick<TeamGateway, "api" | "url">,
  { role = "admin", email = `${role}@example.org`, path = "/", browser = {} }: ConsoleOptions = {},
): Promise<Page> {
  const cookie = cookieIn(await begin(gateway, email, role));
  const page = await openPage(`${gateway.url}${path}`, { ...browser, cookie });
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  return page;
}

/** Creates the account, or logs in if it exists. */
async function begin({ api, url }: Pick<TeamGateway, "api" | "url">, email: string, role: Role) {
  const { status, body } = await api("POST", "/users", { email, role });
  const ask = apiClient(url, { origin: url });
  if (status === 409) return await ask("POST", "/login", { email, password: PASSWORD });
  const code: string = body.invitation.url.split("/").at(-1);
  return await ask("POST", `/invitations/${code}`, { password: PASSWORD });
}
