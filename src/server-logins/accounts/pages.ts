/** The pages for a login at a server: HTML that works without script. */
import { type Html, type HtmlPage, html, NOTHING } from "../../pages/html.ts";
import { passwordFields, type RefusedLogin } from "../../pages/password-form.ts";
import type { MissingCredentials } from "./caller-credentials.ts";

/** The server and the account that a page shows. */
export interface LoginOnPage {
  readonly server: string;
  /** The address of the server. */
  readonly at: string;
  /** E-mail address. */
  readonly account: string;
}

/** Asks the user to log in to the gateway first. */
export function passwordPage(
  given: Partial<RefusedLogin> & {
    readonly sso?: string | undefined;
    readonly passwords?: boolean;
    readonly other?: string;
  },
): HtmlPage {
  const { status, headers, other } = given;
  const wrong =
    other === undefined
      ? html`<p>Log in to MetaMCP to continue.</p>`
      : html`<p class="wrong" role="alert">You are logged in as ${other}, but another account asked for this login. Log in as that account.</p>`;
  return {
    title: "Log in",
    ...(status === undefined ? {} : { status }),
    ...(headers && { headers }),
    body: html`${wrong}${passwordFields(given)}`,
  };
}

/** Asks for what is missing: secrets first, then the login. */
export function missingPage(
  shown: LoginOnPage,
  { login, secrets, other }: MissingCredentials,
  fault?: string,
): HtmlPage {
  const { server, at, account } = shown;
  const wrong = fault === undefined ? NOTHING : html`<p class="wrong" role="alert">${fault}</p>`;
  const blocked = other.map(
    (text) => html`<p class="wrong">${server} cannot be used by this account: ${text}.</p>`,
  );
  const step = secrets.length > 0 ? secretsForm(secrets) : login ? BEGIN : NOTHING;
  return {
    title: `Log in to ${server}`,
    ...(fault === undefined ? {} : { status: 400 }),
    body: html`<p>Your calls to <strong>${server}</strong> will use your own login. Nobody else uses it.</p>
<dl><dt>Server</dt><dd>${at}</dd><dt>Account</dt><dd>${account}</dd></dl>${wrong}${joined(blocked)}${step}`,
  };
}

/** Asks an administrator for the login that all users share. */
export function sharedPage({ server, at, account }: LoginOnPage, fault?: string): HtmlPage {
  const wrong = fault === undefined ? NOTHING : html`<p class="wrong" role="alert">${fault}</p>`;
  return {
    title: `Log in to ${server}`,
    ...(fault === undefined ? {} : { status: 400 }),
    body: html`<p>All users of <strong>${server}</strong> at this gateway will share this login.</p>
<dl><dt>Server</dt><dd>${at}</dd><dt>Account</dt><dd>${account}</dd></dl>${wrong}${BEGIN}`,
  };
}

/** The page of a link: one button, so that a program that only looks at the address does not use it up. */
export function linkPage(server: string): HtmlPage {
  return {
    title: `Log in to ${server}`,
    body: html`<p>All users of <strong>${server}</strong> at this gateway will share this login. Continue only if you have just started it.</p>${BEGIN}`,
  };
}

/**
 * Sends the browser to the issuer by a refresh, because the content security policy forbids that a form is
 * redirected there.
 */
export function redirectPage(address: string): HtmlPage {
  const { host } = new URL(address);
  return {
    title: "One moment",
    headers: { refresh: `0; url=${address}`, "referrer-policy": "no-referrer" },
    body: html`<p>You are being sent to ${host}.</p><a class="button" href="${address}">Continue</a>`,
  };
}

export function donePage(server: string): HtmlPage {
  return {
    title: "Logged in",
    body: html`<p>You can use <strong>${server}</strong> now. You can close this window.</p>`,
  };
}

const BEGIN = html`<form method="post"><button class="main" name="action" value="begin">Log in</button></form>`;

function secretsForm(names: readonly string[]): Html {
  const fields = names.map(
    (name) =>
      html`<label>${name} <input type="password" name="secret.${name}" autocomplete="off" required></label>`,
  );
  return html`<form method="post"><input type="hidden" name="action" value="secrets">${joined(fields)}<button class="main">Save</button></form>`;
}

function joined(parts: readonly Html[]): Html {
  return parts.reduce((all, part) => html`${all}${part}`, NOTHING);
}
