/** What a person sees while a client logs them in. */
import { type Html, type HtmlPage, html, NOTHING } from "./html.ts";
import { passwordFields } from "./password-form.ts";

const MOST_CHARACTERS = 80;

export interface ConsentQuestion {
  /** As the client calls itself: `clientNameOf`. */
  readonly clientName: string;
  /** Where it can be recognised by: an address that it proved to have, else nothing. */
  readonly clientHost: string | undefined;
  readonly endpoint: string;
  readonly redirectUri: string;
}

export function loginPage(
  { clientName, redirectUri }: ConsentQuestion,
  {
    email = "",
    fault,
    sso,
    status,
    headers,
  }: {
    readonly email?: string;
    readonly fault?: string;
    /** Where to log in elsewhere. */
    readonly sso?: string | undefined;
  } & Pick<HtmlPage, "status" | "headers"> = {},
): HtmlPage {
  return {
    title: "Log in",
    leadsTo: redirectUri,
    ...(status === undefined ? {} : { status }),
    ...(headers && { headers }),
    body: html`<p><strong><bdi>${clientName}</bdi></strong> asks to use MetaMCP as you.</p>${passwordFields({ email, fault, sso })}`,
  };
}

export function consentPage(asked: ConsentQuestion, account: string): HtmlPage {
  const { clientName, clientHost, endpoint, redirectUri } = asked;
  const named =
    clientHost === undefined
      ? html`<p class="quiet">The client chose this name itself. Allow it only if you have just started this login in the client.</p>`
      : NOTHING;
  const host = clientHost === undefined ? NOTHING : html`<dt>Client</dt><dd>${clientHost}</dd>`;
  return {
    title: `Allow ${clientName}?`,
    leadsTo: redirectUri,
    body: html`<p><strong><bdi>${clientName}</bdi></strong> will be able to use all tools of this endpoint that you can use, with your account.</p>
<dl>${host}<dt>Endpoint</dt><dd>${endpoint}</dd><dt>Returns to</dt><dd>${redirectHost(redirectUri)}</dd><dt>Account</dt><dd>${account}</dd></dl>
${named}${choice("Allow", "Refuse")}`,
  };
}

/** The same whether there is no such endpoint, it is disabled, or the account may not use it. */
export function nothingToAllowPage({ endpoint, redirectUri }: ConsentQuestion, account: string): HtmlPage {
  return {
    title: "No access",
    status: 403,
    leadsTo: redirectUri,
    body: html`<p>There is no endpoint <strong>${endpoint}</strong> that ${account} may use. Ask an administrator for access.</p>${choice(undefined, "Go back")}`,
  };
}

export function faultPage(fault: string, status = 400): HtmlPage {
  return { title: "Something went wrong", status, body: html`<p>${fault}</p>` };
}

/** As a client calls itself, without what would be invisible or turn the text around it. */
export function clientNameOf(written: string): string {
  return written
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
}

/** As people recognise it: the host, or the program that a link opens. */
export function redirectHost(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, host, hostname } = new URL(uri);
  if (protocol === "http:") return `${hostname} (a program on this computer)`;
  return protocol === "https:" ? host : `${protocol} (a program on this computer)`;
}

function choice(allow: string | undefined, refuse: string): Html {
  const yes =
    allow === undefined ? NOTHING : html`<button class="main" name="action" value="allow">${allow}</button>`;
  return html`<form method="post"><div class="actions">${yes}<button name="action" value="refuse">${refuse}</button></div></form>`;
}
