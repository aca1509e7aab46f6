/** A client sends a person to the gateway, in a real browser: who they are, who asks for what, and their answer. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectAccessibleInBoth } from "../support/axe.ts";
import { expectComplaint, logIn, noBrowser, openPage } from "../support/browser-page.ts";
import { identityProvider, OIDC_CLIENT } from "../support/identity-provider.ts";
import { mcp } from "../support/mcp-request.ts";
import { OAuthClient } from "../support/oauth-client.ts";
import { ADA, oauthTeam } from "../support/oauth-team.ts";

const NAME = "Agent of the month";

/** A registered client that listens where people are sent back to. */
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
    /** What the client is told. */
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
      expectComplaint(page, new RegExp(`^asked ${origin}$`));
      return page;
    },
  };
}

async function expectAsked(page: Page, account: string): Promise<void> {
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
  test("a wrong password, the right one, and a yes, with and without script", async () => {
    const team = await oauthTeam();
    const { client, open, answer } = await listeningClient(team);
    for (const javaScriptEnabled of [true, false]) {
      const page = await open({ javaScriptEnabled });
      await page.getByText(`${NAME} asks to use MetaMCP as you.`).waitFor();
      expectComplaint(page, /401/);
      await logIn(page, { ...ADA, password: "wrong" });
      await page.getByRole("alert").getByText("The e-mail address or the password is wrong.").waitFor();
      expect(await page.getByLabel("E-mail address").inputValue()).toBe(ADA.email);
      await logIn(page, ADA);
      await expectAsked(page, ADA.email);
      await page.getByRole("button", { name: "Allow" }).click();
      const { status, body } = await client.exchange((await answer(page)).get("code") ?? "");
      expect(status).toBe(200);
      expect((await mcp(team, "one", { token: body.access_token })).status).toBe(200);
    }
  });

  test("a no is told to the client, and what was begun is over then, with and without script", async () => {
    const { open, answer } = await listeningClient(await oauthTeam());
    for (const javaScriptEnabled of [true, false]) {
      const page = await open({ javaScriptEnabled });
      await logIn(page, ADA);
      await expectAsked(page, ADA.email);
      const asked = page.url();
      await page.getByRole("button", { name: "Refuse" }).click();
      expect(Object.fromEntries(await answer(page))).toMatchObject({ error: "access_denied" });
      expectComplaint(page, /400/);
      await page.goto(asked);
      await page.getByText("This login has expired").waitFor();
      expect(await page.getByRole("button").count()).toBe(0);
    }
  });

  test("at an identity provider, and back to the question", async () => {
    const provider = await identityProvider();
    provider.claims = { sub: "u1", email: "carol@example.org", email_verified: true };
    const team = await oauthTeam({
      flags: [`--oidc-issuer=${provider.issuer}`, `--oidc-client-id=${OIDC_CLIENT.id}`],
      env: { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret },
    });
    const { client, open, answer } = await listeningClient(team);
    const page = await open({ javaScriptEnabled: false });
    expectComplaint(page, new RegExp(`^asked ${provider.issuer}$`));
    await page.getByRole("link", { name: "Log in with your organisation" }).click();
    await expectAsked(page, "carol@example.org");
    await page.getByRole("button", { name: "Allow" }).click();
    const { body } = await client.exchange((await answer(page)).get("code") ?? "");
    expect((await mcp(team, "one", { token: body.access_token })).status).toBe(200);
  });

  test("the pages look like the console, in both themes, and everybody can use them", async () => {
    const provider = await identityProvider();
    const team = await oauthTeam({
      flags: [`--oidc-issuer=${provider.issuer}`, `--oidc-client-id=${OIDC_CLIENT.id}`],
      env: { METAMCP_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret },
    });
    const { open } = await listeningClient(team);
    const console = await openPage(`${team.url}/login`);
    await console.getByRole("heading", { name: "Log in" }).waitFor();
    const page = await open();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const one of [page, console]) await one.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      expect(await lookOf(page, ".product", ".card"), colorScheme).toEqual(
        await lookOf(console, ".bare-product", ".bare-card"),
      );
    }
    await expectAccessibleInBoth(page);
    await logIn(page, ADA);
    await expectAsked(page, ADA.email);
    await expectAccessibleInBoth(page);
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

/** What was computed for the parts that both have. */
async function lookOf(page: Page, product: string, card: string): Promise<unknown> {
  const parts = ["body", product, `${card} h1`, "label", "input[type=email]", "a.button", "form button"];
  const read = `(selector) => {
    const style = getComputedStyle(document.querySelector(selector));
    return Object.fromEntries(${JSON.stringify(PROPERTIES)}.map((name) => [name, style.getPropertyValue(name)]));
  }`;
  const looks: unknown[] = [];
  for (const part of parts) looks.push(await page.evaluate(`(${read})(${JSON.stringify(part)})`));
  return looks;
}
