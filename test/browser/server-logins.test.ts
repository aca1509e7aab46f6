/** Logins at servers in the console: personal logins, shared logins, and secrets for servers. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, noBrowser } from "../support/browser-page.ts";
import { openConsole } from "../support/console-page.ts";
import { shared } from "../support/shared.ts";
import { teamClient } from "../support/team-gateway.ts";
import { fixture } from "../support/temp.ts";
import { until } from "../support/until.ts";
import { type UserLoginTeam, userLoginTeam } from "../support/user-login-team.ts";

/** Opens a page that may redirect to the issuer. */
async function openAt({ gateway, by }: UserLoginTeam, path: string, email?: string): Promise<Page> {
  const page = await openConsole(gateway, { path, ...(email && { email, role: "member" }) });
  allowError(page, new RegExp(`^request to ${by.url}`));
  return page;
}

describe.skipIf(noBrowser)("logins at servers", () => {
  const made = shared(userLoginTeam);

  test("a person logs in at a server, calls its tools and logs out", async () => {
    const team = made();
    const client = await teamClient(team.gateway, "all", { key: team.ada.key });
    const page = await openAt(team, "/me", "ada@example.org");
    const row = page
      .getByRole("table", { name: "Logins at servers" })
      .getByRole("row")
      .filter({ hasText: "mail" });
    await row.getByText("not logged in").waitFor();
    expect(await client.tools()).not.toContain("mail__inbox");
    await row.getByRole("button", { name: "Log in: mail" }).click();
    await page.waitForURL(`${team.gateway.url}/me`);
    await row.getByText("logged in", { exact: true }).waitFor();
    await row.getByText("renewed automatically", { exact: false }).waitFor();
    await until(async () => (await client.tools()).includes("mail__inbox"), { what: "the tools" });
    expect(await client.call("mail__inbox")).toBe("inbox by user 0");
    await expectAccessibleInBothThemes(page);

    await row.getByRole("button", { name: "Log in again: mail" }).waitFor();
    await row.getByRole("button", { name: "Log out: mail" }).click();
    const question = page.getByRole("dialog", { name: "Log out of mail?" });
    await expectAccessibleInBothThemes(page);
    await question.getByRole("button", { name: "Log out" }).click();
    await page.getByText("You are logged out of mail").waitFor();
    await row.getByText("not logged in").waitFor();
    expect(team.by.families[0]?.revoked).toBe(true);
  });

  test("a missing secret of a server is requested by its name", async () => {
    const team = made();
    await team.api("POST", "/mcp-servers", {
      name: "told",
      ...fixture(),
      env: { TOKEN: `\${user.secret.TOKEN_OF_MINE}` },
    });
    await team.api("PATCH", "/namespaces/team", { servers: [{ server: "mail" }, { server: "told" }] });
    const page = await openAt(team, "/me", "ada@example.org");
    const row = page.getByRole("row").filter({ hasText: "told" });
    await row.getByText("needs a secret").waitFor();
    await row.getByRole("button", { name: "Add secret: TOKEN_OF_MINE" }).click();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("TOKEN_OF_MINE");
    await page.getByLabel("Value").fill("a-secret-value");
    await page.getByRole("button", { name: "Save secret" }).click();
    await row.getByText("ready").waitFor();
    expect(await page.content()).not.toContain("a-secret-value");
  });

  test("the drawer of a server shows the personal and the shared login", async () => {
    const team = made();
    const page = await openAt(team, `/servers/${team.uuid}`);
    const drawer = page.getByRole("dialog", { name: "mail" });
    await drawer.getByText("Your login").waitFor();
    await drawer.getByRole("button", { name: "Log in: mail" }).click();
    await page.waitForURL((at) => at.pathname === `/servers/${team.uuid}`);
    await drawer.getByText("logged in", { exact: true }).waitFor();

    await team.api("PATCH", `/mcp-servers/${team.uuid}`, { credentials: "shared", oauth: true });
    await drawer.getByText("Login of the gateway").waitFor();
    await drawer.getByRole("button", { name: "Log in: mail" }).click();
    await drawer.getByText("connected", { exact: true }).first().waitFor();
    await drawer.getByText("logged in", { exact: true }).waitFor();
    await drawer.getByRole("button", { name: "Log out: mail" }).click();
    await page
      .getByRole("dialog", { name: "Log out of mail?" })
      .getByRole("button", { name: "Log out" })
      .click();
    await page.getByText("The gateway is logged out of mail").waitFor();
    expect((await team.api("GET", `/mcp-servers/${team.uuid}/login`)).body).toEqual({ state: "none" });
  });
});
