/** The pages that a user sees while an OAuth client logs in. */
import { type Html, type HtmlPage, html, NOTHING } from "../pages/html.ts";
import { passwordFields } from "../pages/password-form.ts";

const MAX_CHARACTERS = 80;

export interface ConsentQuestion {
  /** The name that the client gave itself, cleaned by `clientNameOf`. */
  readonly clientName: string;
  /** The host of the client id, if the client proved that it controls that address. */
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
    passwords,
    status,
    headers,
  }: {
    readonly email?: string;
    readonly fault?: string;
    /** URL for login with the organisation. */
    readonly sso?: string | undefined;
    /** Whether people can log in with passwords. */
    readonly passwords?: boolean;
  } & Pick<HtmlPage, "status" | "headers"> = {},
): HtmlPage {
  return {
    title: "Log in",
    formTarget: redirectUri,
    ...(status === undefined ? {} : { status }),
    ...(headers && { headers }),
    body: html`<p><strong><bdi>${clientName}</bdi></strong> asks to use MetaMCP as you.</p>${passwordFields({ email, fault, sso, ...(passwords === undefined ? {} : { passwords }) })}`,
  };
}

export function consentPage(question: ConsentQuestion, account: string): HtmlPage {
  const { clientName, clientHost, endpoint, redirectUri } = question;
  const named =
    clientHost === undefined
      ? html`<p class="quiet">The client chose this name itself. Allow it only if you have just started this login in the client.</p>`
      : NOTHING;
  const host = clientHost === undefined ? NOTHING : html`<dt>Client</dt><dd>${clientHost}</dd>`;
  return {
    title: `Allow ${clientName}?`,
    formTarget: redirectUri,
    body: html`<p><strong><bdi>${clientName}</bdi></strong> will be able to use all tools of this endpoint that you can use, with your account.</p>
<dl>${host}<dt>Endpoint</dt><dd>${endpoint}</dd><dt>Returns to</dt><dd>${redirectHost(redirectUri)}</dd><dt>Account</dt><dd>${account}</dd></dl>
${named}${choice("Allow", "Refuse")}`,
  };
}

/** The same page whether the endpoint does not exist, is disabled, or is not allowed for the account. */
export function nothingToAllowPage({ endpoint, redirectUri }: ConsentQuestion, account: string): HtmlPage {
  return {
    title: "No access",
    status: 403,
    formTarget: redirectUri,
    body: html`<p>There is no endpoint <strong>${endpoint}</strong> that ${account} may use. Ask an administrator for access.</p>${choice(undefined, "Go back")}`,
  };
}

/** Cleans the name of a client: removes invisible characters and those that change the text direction. */
export function clientNameOf(written: string): string {
  return written
    .slice(0, MAX_CHARACTERS)
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim();
}

/** A description of the redirect target for people: the host, or the scheme of a local program. */
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
