/** The OAuth login for MCP clients in a browser: login, consent page, and the answer to the client. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectAccessibleInBothThemes } from "../support/axe.ts";
import { allowError, logIn, noBrowser, openPage } from "../support/browser-page.ts";
import { identityProvider, OIDC_CLIENT } from "../support/identity-provider.ts";
import { mcp } from "../support/mcp-request.ts";
import { OAuthClient } from "../support/oauth-client.ts";
import { ADA, oauthTeam } from "../support/oauth-team.ts";
import { shared } from "../support/shared.ts";

const NAME = "Agent of the month";

/** A registered client that listens at its redirect address. */
async function listeningClient({ url }: { readonly url: string }) {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><link rel=icon href=data:,><title>client</title><p>You can go back.");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new OAuthClient(url, { redirectUri: `${origin}/callback` });
  expect((await client.register({ client_name: NAME })).status).toBe(201);
  return {
    client,
    /** Waits for the redirect and returns its query parameters. */
    async answer(page: Page) {
      await page.getByText("You can go back.").waitFor();
      const back = new URL(page.url());
      expect(back.origin + back.pathname).toBe(client.redirectUri);
      expect(back.searchParams.get("iss")).toBe(url);
      expect(back.searchParams.get("state")).toBe("a-state");
      return back.searchParams;
    },
    async open(options: Parameters<typeof openPage>[1] = {}) {
      const page = await openPage(client.authorizeUrl(), options);
      allowError(page, new RegExp(`^request to ${origin}$`));
      return page;
    },
  };
}

async function expectConsentPage(page: Page, account: string): Promise<void> {
  await page.getByRole("heading", { name: `Allow ${NAME}?` }).waitFor();
  const terms = await page.locator("dt").allTextContents();
  const values = await page.locator("dd").allTextContents();
  expect(Object.fromEntries(terms.map((term, at) => [term, values[at]]))).toEqual({
    Endpoint: "one",
    "Returns to": "127.0.0.1 (a program on this computer)",
    Account: account,
  });
}

describe.skipIf(noBrowser)("a login for a client", () => {
  const plain = shared(oauthTeam);
  const withProvider = shared(async () => {
    const provider = await identityProvider();
    provider.claims = { sub: "u1", email: "carol@example.org", email_verified: true };
    const team = await oauthTeam({
      flags: [`--oidc-issuer=${provider.issuer}`, `--oidc-client-id=${OIDC_CLIENT.id}`],
      env: { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret },
    });
    return { provider, team };
  });

  test("reports a wrong password, accepts the right one, and returns a code after consent, with and without script", async () => {
    const team = plain();
    const { client, open, answer } = await listeningClient(team);
    for (const javaScriptEnabled of [true, false]) {
      const page = await open({ javaScriptEnabled });
      await page.getByText(`${NAME} asks to use MetaMCP as you.`).waitFor();
      allowError(page, /401/);
      await logIn(page, { ...ADA, password: "wrong" });
      await page.getByRole("alert").getByText("The e-mail address or the password is wrong.").waitFor();
      expect(await page.getByLabel("E-mail address").inputValue()).toBe(ADA.email);
      await logIn(page, ADA);
      await expectConsentPage(page, ADA.email);
      await page.getByRole("button", { name: "Allow" }).click();
      const { status, body } = await client.exchange((await answer(page)).get("code") ?? "");
      expect(status).toBe(200);
      expect((await mcp(team, "one", { token: body.access_token })).status).toBe(200);
    }
  });

  test("returns access_denied after a refusal and ends the login, with and without script", async () => {
    const { open, answer } = await listeningClient(plain());
    for (const javaScriptEnabled of [true, false]) {
      const page = await open({ javaScriptEnabled });
      await logIn(page, ADA);
      await expectConsentPage(page, ADA.email);
      const asked = page.url();
      await page.getByRole("button", { name: "Refuse" }).click();
      expect(Object.fromEntries(await answer(page))).toMatchObject({ error: "access_denied" });
      allowError(page, /400/);
      await page.goto(asked);
      await page.getByText("This login has expired").waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
    }
  });

  test("leads to an identity provider and back to the consent page", async () => {
    const { provider, team } = withProvider();
    const { client, open, answer } = await listeningClient(team);
    const page = await open({ javaScriptEnabled: false });
    allowError(page, new RegExp(`^request to ${provider.issuer}$`));
    await page.getByRole("link", { name: "Log in with your organisation" }).click();
    await expectConsentPage(page, "carol@example.org");
    await page.getByRole("button", { name: "Allow" }).click();
    const { body } = await client.exchange((await answer(page)).get("code") ?? "");
    expect((await mcp(team, "one", { token: body.access_token })).status).toBe(200);
  });

  test("shows pages in the style of the console, accessible in both themes", async () => {
    const { team } = withProvider();
    const { open } = await listeningClient(team);
    const console = await openPage(`${team.url}/login`);
    await console.getByRole("heading", { name: "Log in" }).waitFor();
    const page = await open();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const one of [page, console]) await one.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await stylesOf(page, ".product", ".card"), colorScheme).toEqual(
        await stylesOf(console, ".bare-product", ".bare-card"),
      );
    }
    await expectAccessibleInBothThemes(page);
    await logIn(page, ADA);
    await expectConsentPage(page, ADA.email);
    await expectAccessibleInBothThemes(page);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  });
});

const PROPERTIES = [
  "color",
  "background-color",
  "border-top-color",
  "border-top-left-radius",
  "font-family",
  "font-size",
  "font-weight",
  "line-height",
  "letter-spacing",
  "padding-left",
  "width",
  "min-height",
];

/** Returns computed styles of the elements that both pages have. */
async function stylesOf(page: Page, product: string, card: string): Promise<unknown> {
  const parts = ["body", product, `${card} h1`, "label", "input[type=email]", "a.button", "form button"];
  const read = `(selector) => {
    const style = getComputedStyle(document.querySelector(selector));
    return Object.fromEntries(${JSON.stringify(PROPERTIES)}.map((name) => [name, style.getPropertyValue(name)]));
  }`;
  const looks: unknown[] = [];
  for (const part of parts) looks.push(await page.evaluate(`(${read})(${JSON.stringify(part)})`));
  return looks;
}
