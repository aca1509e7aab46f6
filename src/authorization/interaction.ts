/** The pages of an OAuth login: authentication of the user, and consent for the client. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Provider from "oidc-provider";
import { errors, type InteractionResults } from "oidc-provider";
import { type Account, accountPrincipal } from "../access/account.ts";
import type { LoginTried } from "../kernel/events.ts";
import { requestIdIn } from "../kernel/traceparent.ts";
import { faultPage, type HtmlPage, sendPage } from "../pages/html.ts";
import { logInWithPassword, readOwnForm } from "../pages/password-form.ts";
import type { GrantScope } from "./grants.ts";
import {
  type ConsentQuestion,
  clientNameOf,
  consentPage,
  loginPage,
  nothingToAllowPage,
  redirectHost,
} from "./pages.ts";
import type { AuthorizationParts } from "./parts.ts";
import { audienceOf, endpointIn } from "./resource.ts";
import { LOGIN } from "./routes.ts";
import { saveGrant } from "./save-grant.ts";

type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;
type Outcome = { readonly page: HtmlPage } | { readonly result: InteractionResults };

const EXPIRED = "This login has expired or was opened in another browser. Start it again in your client.";
const ENDED = "Your login has ended. Start again in your client.";

export class Interaction {
  readonly #provider: Provider;
  readonly #parts: AuthorizationParts;

  constructor(provider: Provider, parts: AuthorizationParts) {
    this.#provider = provider;
    this.#parts = parts;
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const details = await this.#details(path, request, response);
    if (!details) return sendPage(response, faultPage(EXPIRED));
    const form =
      request.method === "POST" ? await readOwnForm(request, this.#parts.logins) : new URLSearchParams();
    if (typeof form === "string") return sendPage(response, faultPage(form, 403));
    const outcome =
      details.prompt.name === "login"
        ? await this.#login(details, form, request, response)
        : await this.#consent(details, form, request);
    if ("page" in outcome) sendPage(response, outcome.page);
    else await this.#provider.interactionFinished(request, response, outcome.result);
  }

  async #details(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Details | undefined> {
    try {
      const details = await this.#provider.interactionDetails(request, response);
      return path === `${LOGIN}/${details.uid}` ? details : undefined;
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return undefined;
      throw error;
    }
  }

  async #login(
    details: Details,
    form: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Outcome> {
    const { logins, sso, accounts } = this.#parts;
    const passwords = accounts.takesPasswords;
    const question = await this.#question(details);
    const ssoUrl = sso?.(`${LOGIN}/${details.uid}`);
    if (form.get("action") !== "login") {
      const known = details.prompt.reasons.includes("login_prompt") ? undefined : logins.of(request.headers);
      return known ? loggedIn(known) : { page: loginPage(question, { sso: ssoUrl, passwords }) };
    }
    const login = await logInWithPassword(this.#parts, form, request);
    if (!("account" in login)) return { page: loginPage(question, { ...login, sso: ssoUrl, passwords }) };
    response.appendHeader("set-cookie", login.cookie);
    return loggedIn(login.account);
  }

  async #consent(details: Details, form: URLSearchParams, request: IncomingMessage): Promise<Outcome> {
    const { logins, mayUse } = this.#parts;
    const account = logins.of(request.headers);
    if (!account || account.uuid !== details.session?.accountId) return { page: faultPage(ENDED, 403) };
    const question = await this.#question(details);
    const action = form.get("action");
    const emit = (outcome: LoginTried["outcome"]): void => {
      const principal = { ...accountPrincipal(account), client: String(details.params["client_id"]) };
      const { clientName: client, endpoint } = question;
      this.#emit(request, { by: "oauth", outcome, principal, client, endpoint });
    };
    if (action === "refuse") {
      emit("refused");
      return { result: { error: "access_denied", error_description: "the person refused" } };
    }
    const endpoint = this.#parts.endpointId(question.endpoint);
    if (endpoint === undefined || !mayUse(question.endpoint, account))
      return { page: nothingToAllowPage(question, account.email) };
    if (action !== "allow") return { page: consentPage(question, account.email) };
    emit("ok");
    const client = String(details.params["client_id"]);
    const scope = {
      account: account.uuid,
      client,
      endpoint,
      redirectHost: redirectHost(question.redirectUri),
    };
    return { result: { consent: { grantId: await this.#allow(details, question, scope) } } };
  }

  /** Emits a login event: consent was given or refused. */
  #emit(request: IncomingMessage, login: Omit<LoginTried, "type" | "at" | "address">): void {
    const { events, addressOf, now } = this.#parts;
    const from = { address: addressOf(request), ...requestIdIn(request.headers) };
    events?.emit({ type: "login", at: now(), ...from, ...login });
  }

  async #allow(
    { params }: Details,
    { clientName, endpoint }: ConsentQuestion,
    scope: GrantScope,
  ): Promise<string> {
    const { base, grants } = this.#parts;
    await grants.consent(scope, { clientName, resource: audienceOf(base(), endpoint) });
    const grant = await saveGrant(this.#provider, this.#parts, scope, String(params["resource"]));
    return grant.jti;
  }

  async #question({ params }: Details): Promise<ConsentQuestion> {
    const id = String(params["client_id"]);
    const client = await this.#provider.Client.find(id);
    return {
      clientName: clientNameOf(client?.clientName ?? "") || id,
      clientHost: URL.canParse(id) ? new URL(id).host : undefined,
      endpoint: endpointIn(this.#parts.base(), String(params["resource"])) ?? "",
      redirectUri: String(params["redirect_uri"]),
    };
  }
}

function loggedIn({ uuid }: Account): Outcome {
  return { result: { login: { accountId: uuid } } };
}
