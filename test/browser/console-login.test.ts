/** Login to the console: setup link, password, identity provider, invitation, logout. */

import { describe, expect, test } from "vitest";
import { adminFetch } from "../support/admin-answers.ts";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, logIn, noBrowser, openPage } from "../support/browser-page.ts";
import { identityProvider, OIDC_CLIENT } from "../support/identity-provider.ts";
import { PASSWORD } from "../support/people.ts";
import { shared } from "../support/shared.ts";
import { type TeamGateway, teamGateway } from "../support/team-gateway.ts";
import { temp } from "../support/temp.ts";
import { until } from "../support/until.ts";

const ADA = { email: "ada@example.org", password: PASSWORD };

describe.skipIf(noBrowser)("the login to the console", () => {
  const made = shared(() => teamGateway(temp()));

  test("the setup link creates the first administrator, who is logged in and can log out", async () => {
    const gateway = await teamGateway(temp(), { env: { METAMCP_ADMIN_TOKEN: "" } });
    const link = await until(() => /http\S+\/setup\?code=\S+/.exec(gateway.stderr)?.[0], {
      what: "the link",
    });
    const page = await openPage(link);
    await page.getByLabel("Your e-mail address").fill(ADA.email);
    await expectAccessibleInBothThemes(page);
    await page.getByLabel("Password").fill("short");
    allowError(page, /422/);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Must be 10 characters at least.", { exact: true }).waitFor();
    await page.getByLabel("Password").fill(ADA.password);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/");
    await page.getByRole("button", { name: `Account ${ADA.email}` }).click();
    // Requests that are in flight at the logout are refused.
    allowError(page, /401/);
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    // Empty fields say so at once, in the words of the console.
    await page.getByRole("button", { name: "Log in" }).click();
    await until(async () => (await page.getByText("Required.").count()) === 2, { what: "both errors" });
    await page.getByLabel("E-mail address").fill("ada");
    await page.getByLabel("Password").fill(ADA.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Not a complete address.").waitFor();
    expect(await page.getByText("Required.").count()).toBe(0);
    // The link is used up, and says so before anything is typed.
    allowError(page, /404/);
    await page.goto(link);
    await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor();
    expect(await page.getByLabel("Password").count()).toBe(0);
  });

  test("an address that needs a login leads to the login page and back, and a wrong password is reported", async () => {
    const gateway = made();
    await invite(gateway);
    const page = await openPage(`${gateway.url}/sessions?after=login`);
    await page.getByText("Log in to continue.").waitFor();
    allowError(page, /401/);
    await logIn(page, { ...ADA, password: "wrong" });
    await page.getByRole("alert").getByText("The e-mail address or the password is wrong.").waitFor();
    await logIn(page, ADA);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/sessions?after=login`);
    // Without the cookie the next request leads to the login page.
    await page.context().clearCookies();
    await page.reload();
    await page.getByRole("heading", { name: "Log in" }).waitFor();
  });

  test("with an identity provider, a button leads there and back to the address", async () => {
    const provider = await identityProvider();
    provider.claims = { sub: "u1", email: ADA.email, email_verified: true, groups: ["ops"] };
    const gateway = await teamGateway(temp(), {
      flags: [
        `--oidc-issuer=${provider.issuer}`,
        `--oidc-client-id=${OIDC_CLIENT.id}`,
        "--oidc-admin-group=ops",
      ],
      env: { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret },
    });
    const page = await openPage(`${gateway.url}/history`);
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    await expectAccessibleInBothThemes(page);
    allowError(page, new RegExp(`^request to ${provider.issuer}`));
    await page.getByRole("link", { name: "Log in with your organisation" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/history`);
    await page.getByRole("link", { name: "People" }).waitFor();
  });

  test("an invitation sets a password, and a used one is reported", async () => {
    const email = "bob@example.org";
    const { body } = await made().api("POST", "/users", { email, role: "admin" });
    const page = await openPage(body.invitation.url);
    await page.getByText(email).waitFor();
    await page.getByLabel("Password").fill(ADA.password);
    await page.getByRole("button", { name: "Accept invitation" }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    allowError(page, /404/);
    await page.goto(body.invitation.url);
    await page.getByRole("heading", { name: "This invitation is no longer valid" }).waitFor();
  });
});

async function invite({ api, url }: TeamGateway): Promise<void> {
  const { body } = await api("POST", "/users", { email: ADA.email, role: "admin" });
  const code: string = body.invitation.url.split("/").at(-1);
  await adminFetch(`${url}/api/v1/invitations/${code}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ password: ADA.password }),
  });
}
