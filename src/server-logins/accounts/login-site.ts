/**
 * Serves the pages for logins at servers, and the callback of issuers. Users are identified by their console
 * session.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Account, accountPrincipal } from "../../access/account.ts";
import { cookieName, cookieValues, setCookie } from "../../access/cookies.ts";
import { may } from "../../access/may.ts";
import { isSecretValue, type UserSecrets } from "../../access/user-secrets.ts";
import type { ServerSpec } from "../../config/spec.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import { requestIdIn } from "../../kernel/traceparent.ts";
import { faultPage, type HtmlPage, sendPage } from "../../pages/html.ts";
import { logInWithPassword, type PasswordParts, readOwnForm } from "../../pages/password-form.ts";
import type { CallerCredentials } from "./caller-credentials.ts";
import { type LoginKey, SHARED } from "./login-records.ts";
import {
  donePage,
  type LoginOnPage,
  linkPage,
  missingPage,
  passwordPage,
  redirectPage,
  sharedPage,
} from "./pages.ts";
import type { ServerLogins } from "./server-logins.ts";

const BASE = "/oauth/logins";
export const CALLBACK = `${BASE}/callback`;
const LINK = `${BASE}/continue/`;
const COOKIE = "metamcp-server-login";
const COOKIE_S = 10 * 60;
/** Our client metadata document, for issuers that support it. */
export const DOCUMENT = `${BASE}/client.json`;

export function pageOf(server: string, account?: string): string {
  return `${BASE}/${server}${account === undefined ? "" : `?for=${account}`}`;
}

/** The page that continues a login which a token or key started. */
export function linkPath(ticket: string): string {
  return `${LINK}${ticket}`;
}

export interface LoginSiteParts extends PasswordParts {
  readonly callers: CallerCredentials;
  readonly logins: PasswordParts["logins"];
  readonly servers: ServerLogins;
  readonly secrets: Pick<UserSecrets, "put">;
  /**
   * The server with this uuid or name, if this account may log in to it: for itself, or as an administrator
   * for all. Otherwise undefined.
   */
  readonly serverFor: (server: string, account: Account) => ServerSpec | undefined;
  /** URL for login with the organisation, which then redirects to `returnTo`. */
  readonly sso?: ((returnTo: string) => string) | undefined;
  /** URL of the gateway for browsers. */
  readonly base: () => string;
  readonly log: Log;
}

const NOTHING_HERE = "There is no login on this page.";
const USED_LINK = "This link is invalid, was used before, or has expired. Start the login again.";

interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

export class LoginSite {
  readonly #parts: LoginSiteParts;

  constructor(parts: LoginSiteParts) {
    this.#parts = parts;
  }

  answers(path: string): boolean {
    return path.startsWith(`${BASE}/`);
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://localhost");
    try {
      if (path === DOCUMENT) this.#document(response);
      else if (path === CALLBACK) await this.#callback({ request, response, url });
      else if (path.startsWith(LINK))
        sendPage(response, await this.#continue(path.slice(LINK.length), { request, response, url }));
      else
        sendPage(
          response,
          await this.#page(decoded(path.slice(BASE.length + 1)), { request, response, url }),
        );
    } catch (error) {
      this.#parts.log.error(`logins at servers: ${(error as Error).stack}`);
      if (response.headersSent) response.destroy();
      else sendPage(response, faultPage("Something went wrong. Try again later.", 500));
    }
  }

  #document(response: ServerResponse): void {
    const base = this.#parts.base();
    const body = JSON.stringify({
      client_id: `${base}${DOCUMENT}`,
      client_name: "MetaMCP",
      client_uri: base,
      redirect_uris: [`${base}${CALLBACK}`],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
    response
      .writeHead(200, { "content-type": "application/json", "cache-control": "max-age=3600" })
      .end(body);
  }

  /**
   * The callback of an issuer. A browser with the callback of another user gets an error, and nothing
   * changes.
   */
  async #callback({ request, response, url }: Visit): Promise<void> {
    if (request.method !== "GET") return sendPage(response, faultPage("Only GET here.", 405));
    const { logins, servers, addressOf } = this.#parts;
    const account = logins.of(request.headers);
    const principal = account && accountPrincipal(account);
    try {
      const proofs = cookieValues(request.headers, this.#cookieName);
      const by = { account, principal, address: addressOf(request), ...requestIdIn(request.headers), proofs };
      const done = await servers.finish(url.searchParams, by);
      if (done.returnTo === undefined) sendPage(response, donePage(done.name));
      else response.writeHead(303, { location: done.returnTo, "cache-control": "no-store" }).end();
    } catch (error) {
      if (!MetaMcpError.is(error)) throw error;
      sendPage(response, faultPage(error.message));
    }
  }

  /** Binds the login to the first browser that continues it, by a cookie. */
  async #continue(ticket: string, { request, response }: Visit): Promise<HtmlPage> {
    const { servers, logins } = this.#parts;
    const server = await servers.linkedServer(ticket);
    if (server === undefined) return faultPage(USED_LINK, 404);
    if (request.method !== "POST") return linkPage(server);
    const form = await readOwnForm(request, logins);
    if (typeof form === "string") return faultPage(form, 403);
    const used = await servers.useLink(ticket);
    if (!used) return faultPage(USED_LINK, 404);
    response.appendHeader("set-cookie", setCookie(this.#cookieName, used.proof, COOKIE_S));
    return redirectPage(used.url);
  }

  get #cookieName(): string {
    return cookieName(COOKIE, this.#parts.base().startsWith("https:"));
  }

  async #page(server: string, visit: Visit): Promise<HtmlPage> {
    const { request } = visit;
    const { logins } = this.#parts;
    const form = request.method === "POST" ? await readOwnForm(request, logins) : new URLSearchParams();
    if (typeof form === "string") return faultPage(form, 403);
    const account =
      form.get("action") === "login" ? await this.#logIn(form, visit) : logins.of(request.headers);
    if (account && "fault" in account) return passwordPage({ ...account, ...this.#ways(visit) });
    if (!account) return passwordPage(this.#ways(visit));
    const expected = visit.url.searchParams.get("for");
    if (expected !== null && expected !== account.uuid)
      return passwordPage({ ...this.#ways(visit), other: account.email });
    const spec = this.#parts.serverFor(server, account);
    if (!spec) return faultPage(NOTHING_HERE, 404);
    return await this.#step(spec, account, { ...visit, form });
  }

  async #logIn(form: URLSearchParams, { request, response }: Visit) {
    const login = await logInWithPassword(this.#parts, form, request);
    if (!("account" in login)) return login;
    response.appendHeader("set-cookie", login.cookie);
    return login.account;
  }

  async #step(
    spec: ServerSpec,
    account: Account,
    { request, form }: Visit & { readonly form: URLSearchParams },
  ): Promise<HtmlPage> {
    const { callers, secrets } = this.#parts;
    const own = spec.perAccount !== undefined;
    const shown = shownOf(spec, account);
    const action = form.get("action");
    if (action === "secrets") {
      const typed = callers.missing(spec, account.uuid).secrets.flatMap((name) => {
        const value = form.get(`secret.${name}`);
        return value === null ? [] : [{ name, value }];
      });
      if (!typed.every(({ value }) => isSecretValue(value)))
        return this.#missing(spec, account, "A secret is one line without control characters.");
      for (const { name, value } of typed) await secrets.put(account.uuid, name, value);
    }
    if (action === "begin") {
      const key = { server: spec.id ?? "", account: own ? account.uuid : SHARED };
      return await this.#begin(key, account, request).catch((error: unknown) => {
        if (!MetaMcpError.is(error)) throw error;
        return own ? this.#missing(spec, account, error.message) : sharedPage(shown, error.message);
      });
    }
    return own ? this.#missing(spec, account) : sharedPage(shown);
  }

  #missing(spec: ServerSpec, account: Account, fault?: string): HtmlPage {
    const { callers } = this.#parts;
    if (fault === undefined && !MetaMcpError.is(callers.of(spec, account.uuid))) return donePage(spec.name);
    return missingPage(shownOf(spec, account), callers.missing(spec, account.uuid), fault);
  }

  async #begin(key: LoginKey, account: Account, request: IncomingMessage): Promise<HtmlPage> {
    const principal = accountPrincipal(account);
    if (key.account === SHARED && !may(principal, "servers.write")) return faultPage(NOTHING_HERE, 404);
    const address = this.#parts.addressOf(request);
    const by = { account, principal, address, ...requestIdIn(request.headers) };
    const { url } = await this.#parts.servers.begin(key, by);
    return redirectPage(url);
  }

  /** The ways to log in to the gateway that the page offers. */
  #ways({ url }: Visit): { readonly sso: string | undefined; readonly passwords: boolean } {
    const { sso, accounts } = this.#parts;
    return { sso: sso?.(`${url.pathname}${url.search}`), passwords: accounts.takesPasswords };
  }
}

function shownOf(spec: ServerSpec, { email }: Account): LoginOnPage {
  const at = spec.kind === "stdio" ? "runs at this gateway" : shownUrl(spec.url);
  return { server: spec.name, at, account: email };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
