/** The password form, and the login with it. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type Account, type AccountDirectory, accountPrincipal } from "../access/account.ts";
import { AccessError } from "../access/error.ts";
import { typedAddress } from "../access/tried-login.ts";
import type { Events, TriedLogin } from "../kernel/events.ts";
import { requestIdIn } from "../kernel/traceparent.ts";
import { readForm } from "./form.ts";
import { type Html, type HtmlPage, html, NOTHING } from "./html.ts";

/** Console sessions. The pages have no other login. */
export interface Logins {
  of(headers: IncomingHttpHeaders): Account | undefined;
  /** Returns the value of `Set-Cookie`. */
  begin(account: Account, headers: IncomingHttpHeaders): Promise<string>;
  /** Whether a form was sent from a page of this gateway. */
  isOwnPage(headers: IncomingHttpHeaders): boolean;
}

export interface PasswordParts {
  readonly accounts: Pick<AccountDirectory, "withPassword" | "takesPasswords">;
  readonly logins: Logins;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly events?: Pick<Events, "emit"> | undefined;
}

export interface RefusedLogin extends Pick<HtmlPage, "status" | "headers"> {
  readonly email: string;
  readonly fault: string;
}

const FOREIGN_FORM = "This form was not sent from a page of this gateway.";
const PASSWORDS_OFF = "Passwords are turned off at this gateway.";
const WRONG_PASSWORD = "The e-mail address or the password is wrong.";

/**
 * Reads a form that was sent from a page of this gateway. Returns the reason as a text if it is refused.
 * Cookies do not prove the origin, because a browser also sends them for other sites.
 */
export async function readOwnForm(
  request: IncomingMessage,
  logins: Pick<Logins, "isOwnPage">,
): Promise<URLSearchParams | string> {
  const { headers } = request;
  const site = headers["sec-fetch-site"];
  const own = headers.origin === undefined || logins.isOwnPage(headers);
  if (!own || (site !== undefined && site !== "same-origin")) return FOREIGN_FORM;
  return (await readForm(request)) ?? FOREIGN_FORM;
}

/** Checks the password of the form and starts a session. `cookie` is the value of `Set-Cookie`. */
export async function logInWithPassword(
  { accounts, logins, addressOf, events }: PasswordParts,
  form: URLSearchParams,
  request: IncomingMessage,
): Promise<{ readonly account: Account; readonly cookie: string } | RefusedLogin> {
  const email = form.get("email") ?? "";
  const address = addressOf(request);
  const from = { address, ...requestIdIn(request.headers) };
  let reason = "";
  const emit = (account?: Account): void => {
    const who = account ? { principal: accountPrincipal(account) } : { reason, ...tried(email) };
    const outcome = account ? "ok" : "refused";
    events?.emit({ type: "login", at: Date.now(), by: "password", outcome, ...from, ...who });
  };
  try {
    const account = await accounts.withPassword(email, form.get("password") ?? "", address, (why) => {
      reason = why;
    });
    emit(account);
    if (!account) return { email, fault: WRONG_PASSWORD, status: 401 };
    return { account, cookie: await logins.begin(account, request.headers) };
  } catch (error) {
    if (!(error instanceof AccessError) || error.code === "busy") throw error;
    emit();
    if (error.code === "passwords_off") return { email, fault: PASSWORDS_OFF, status: 403 };
    const headers = { "retry-after": String(Math.ceil((error.retryAfterMs ?? 0) / 1_000)) };
    return { email, fault: "Too many attempts. Try again later.", status: 429, headers };
  }
}

function tried(email: string): { readonly tried?: TriedLogin } {
  const typed = typedAddress(email);
  return typed ? { tried: typed } : {};
}

export function passwordFields({
  email = "",
  fault,
  sso,
  passwords = true,
}: {
  readonly email?: string;
  readonly fault?: string | undefined;
  /** URL for login with the organisation. */
  readonly sso?: string | undefined;
  /** Whether people can log in with passwords. */
  readonly passwords?: boolean;
}): Html {
  const wrong = fault === undefined ? NOTHING : html`<p class="wrong" role="alert">${fault}</p>`;
  const or = passwords ? html`<div class="or">or</div>` : NOTHING;
  const ssoLink =
    sso === undefined
      ? NOTHING
      : html`<a class="button main" href="${sso}">Log in with your organisation</a>${or}`;
  if (!passwords) return html`${ssoLink}${wrong}`;
  const kind = sso === undefined ? "main" : "plain";
  return html`${ssoLink}${wrong}<form method="post">
<input type="hidden" name="action" value="login">
<label>E-mail address <input type="email" name="email" value="${email}" autocomplete="username" required autofocus></label>
<label>Password <input type="password" name="password" autocomplete="current-password" required></label>
<button class="${kind}">Log in</button>
</form>`;
}
