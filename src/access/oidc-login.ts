/**
 * Login at an external identity provider: authorization code with PKCE, state and nonce. The state of a
 * pending login is in a sealed cookie, so only the browser that started the login can finish it.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { TriedLogin } from "../kernel/events.ts";
import { visible } from "../kernel/visible.ts";
import type { Sealer } from "../store/store.ts";
import type { Account, ExternalIdentity } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { cookieName, cookieValues, setCookie } from "./cookies.ts";
import type { IdentityChecks } from "./identity-checks.ts";
import type { IdentityProvider, ProviderLogin } from "./identity-provider.ts";
import { localPath } from "./local-path.ts";

export interface OidcParts {
  readonly provider: IdentityProvider;
  readonly checks: Pick<IdentityChecks, "begun">;
  readonly accounts: Accounts;
  readonly sealer: Pick<Sealer, "seal" | "open">;
  readonly publicUrl: () => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The login was refused. The message may be shown to the user; the reason is for administrators. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
  readonly reason: string;
  readonly tried: TriedLogin | undefined;

  constructor(
    message: string,
    { reason, tried, cause }: { reason: string; tried?: TriedLogin; cause?: unknown },
  ) {
    super(message, { cause });
    this.reason = reason;
    this.tried = tried;
  }
}

interface PendingLogin {
  readonly of: "oidc-login";
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  readonly expiresAt: number;
}

const SCOPES = ["openid", "email", "profile"];
const PENDING_MS = 10 * 60_000;

export class OidcLogin {
  readonly #parts: OidcParts;

  constructor(parts: OidcParts) {
    this.#parts = parts;
  }

  /** The host of the identity provider. */
  get provider(): string {
    return this.#parts.provider.host;
  }

  /**
   * The address that ends the session at the provider. Undefined if there is none, or it cannot be found out
   * now.
   */
  async endSessionUrl(idToken: string): Promise<string | undefined> {
    return await this.#parts.provider.endSessionUrl(idToken).catch(() => undefined);
  }

  /** Returns the URL for the redirect, and the cookie that the browser must send with the callback. */
  async begin(returnTo: string | undefined): Promise<{ readonly url: string; readonly cookie: string }> {
    const client = await import("openid-client");
    const { provider } = this.#parts;
    const configuration = await provider.configuration();
    const verifier = client.randomPKCECodeVerifier();
    const pending: PendingLogin = {
      of: "oidc-login",
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier,
      redirectUri: `${this.#parts.publicUrl()}${provider.settings.callback}`,
      returnTo: localPath(returnTo ?? "/") ?? "/",
      expiresAt: this.#now() + PENDING_MS,
    };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: pending.redirectUri,
      scope: [...new Set([...SCOPES, ...provider.settings.scopes])].join(" "),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const sealed = Buffer.from(this.#parts.sealer.seal(JSON.stringify(pending))).toString("base64url");
    return { url: url.href, cookie: setCookie(this.#name, sealed, PENDING_MS / 1_000) };
  }

  /** Rejects with LoginRefused. */
  async finish(
    answer: URLSearchParams,
    headers: Pick<IncomingHttpHeaders, "cookie">,
  ): Promise<{ readonly account: Account; readonly login: ProviderLogin; readonly returnTo: string }> {
    const pending = this.#pending(headers);
    if (!pending)
      throw new LoginRefused("This login was started in another browser, or too long ago. Try again.", {
        reason: "the browser has not started this login, or too long ago",
      });
    const { provider, accounts, checks } = this.#parts;
    const login = await this.#exchange(answer, pending);
    const { identity } = login;
    const tried = triedBy(identity);
    if (!provider.mayEnter(identity))
      throw new LoginRefused("None of your groups may use this gateway. Ask an administrator.", {
        reason: `none of the ${tried.groups} groups in the claim "${provider.settings.groupsClaim}" is one of --oidc-allow-group`,
        tried,
      });
    const known = accounts.byIdentity(identity.issuer, identity.subject);
    // A refused login changes nothing, not even the groups of the account.
    if (known?.disabled && !known.suspended)
      throw new LoginRefused("Your account is disabled. Ask an administrator.", {
        reason: "the account is disabled",
        tried,
      });
    const account = await accounts.ofIdentity(provider.withRole(identity, known));
    await checks.begun(account, login);
    return { account, login, returnTo: pending.returnTo };
  }

  /**
   * The value of `Set-Cookie` that deletes the cookie of the pending login, because it is valid for one
   * callback.
   */
  get cleared(): string {
    return setCookie(this.#name, "", 0);
  }

  async #exchange(answer: URLSearchParams, pending: PendingLogin): Promise<ProviderLogin> {
    try {
      return await this.#parts.provider.exchange(new URL(`${pending.redirectUri}?${answer.toString()}`), {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      });
    } catch (error) {
      const { error: code = "" } = error as { error?: unknown };
      const why = typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
      throw new LoginRefused(`The identity provider did not confirm your login${why}. Try again.`, {
        reason: `the identity provider did not confirm the login: ${visible((error as Error).message, 200)}${why}`,
        cause: error,
      });
    }
  }

  #pending(headers: Pick<IncomingHttpHeaders, "cookie">): PendingLogin | undefined {
    for (const value of cookieValues(headers, this.#name)) {
      try {
        const pending = JSON.parse(
          this.#parts.sealer.open(Buffer.from(value, "base64url").toString()),
        ) as PendingLogin;
        if (pending.of === "oidc-login" && pending.expiresAt > this.#now()) return pending;
      } catch {
        // Not a cookie of this gateway.
      }
    }
    return undefined;
  }

  #now(): number {
    return (this.#parts.now ?? Date.now)();
  }

  get #secure(): boolean {
    return this.#parts.publicUrl().startsWith("https:");
  }

  get #name(): string {
    return cookieName("metamcp-oidc", this.#secure);
  }
}

function triedBy({ subject, email, groups = [] }: ExternalIdentity): TriedLogin {
  return { subject: visible(subject, 200), ...(email && { email: visible(email) }), groups: groups.length };
}
