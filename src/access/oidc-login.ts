/**
 * Login at an external identity provider: authorization code with PKCE, state and nonce. The state of a pending login is in
 * a sealed cookie, so only the browser that started the login can finish it.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Configuration, IDToken } from "openid-client";
import type { TriedLogin } from "../kernel/events.ts";
import { visible } from "../kernel/visible.ts";
import type { Sealer } from "../store/store.ts";
import type { Account, ExternalIdentity } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { cookieName, cookieValues, setCookie } from "./cookies.ts";
import { ownPath } from "./own-path.ts";

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Requested beside openid, email and profile. */
  readonly scopes: readonly string[];
  /** The claim with the groups. Dots select a nested claim. */
  readonly groupsClaim: string;
  /** Members of this group are administrators; all others are not. */
  readonly adminGroup: string | undefined;
  /** Only members of one of these groups may log in. Empty: everybody. */
  readonly allowGroups: readonly string[];
  /** The path that the provider redirects to. */
  readonly callback: string;
}

export interface OidcParts {
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
const METADATA_MS = 60 * 60_000;
const MAX_GROUPS = 500;

export class OidcLogin {
  readonly #settings: OidcSettings;
  readonly #parts: OidcParts;
  #metadata: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(settings: OidcSettings, parts: OidcParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** The host of the identity provider. */
  get provider(): string {
    return new URL(this.#settings.issuer).host;
  }

  /** Returns the URL for the redirect, and the cookie that the browser must send with the callback. */
  async begin(returnTo: string | undefined): Promise<{ readonly url: string; readonly cookie: string }> {
    const client = await import("openid-client");
    const configuration = await this.#configuration();
    const verifier = client.randomPKCECodeVerifier();
    const pending: PendingLogin = {
      of: "oidc-login",
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier,
      redirectUri: `${this.#parts.publicUrl()}${this.#settings.callback}`,
      returnTo: ownPath(returnTo ?? "/") ?? "/",
      expiresAt: this.#now() + PENDING_MS,
    };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: pending.redirectUri,
      scope: [...new Set([...SCOPES, ...this.#settings.scopes])].join(" "),
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
  ): Promise<{ readonly account: Account; readonly returnTo: string }> {
    const pending = this.#pending(headers);
    if (!pending)
      throw new LoginRefused("This login was started in another browser, or too long ago. Try again.", {
        reason: "the browser has not started this login, or too long ago",
      });
    const { identity } = await this.#identity(answer, pending);
    const tried = triedBy(identity);
    if (!this.#mayEnter(identity))
      throw new LoginRefused("None of your groups may use this gateway. Ask an administrator.", {
        reason: `none of the ${tried.groups} groups in the claim "${this.#settings.groupsClaim}" is one of --oidc-allow-group`,
        tried,
      });
    // A refused login changes nothing, not even the groups of the account.
    if (this.#parts.accounts.byIdentity(identity.issuer, identity.subject)?.disabled)
      throw new LoginRefused("Your account is disabled. Ask an administrator.", {
        reason: "the account is disabled",
        tried,
      });
    const account = await this.#parts.accounts.ofIdentity({ ...identity, ...this.#role(identity) });
    return { account, returnTo: pending.returnTo };
  }

  #mayEnter({ groups = [] }: ExternalIdentity): boolean {
    const { allowGroups } = this.#settings;
    return allowGroups.length === 0 || allowGroups.some((group) => groups.includes(group));
  }

  /** The value of `Set-Cookie` that deletes the cookie of the pending login, because it is valid for one callback. */
  get cleared(): string {
    return setCookie(this.#name, "", 0);
  }

  async #identity(
    answer: URLSearchParams,
    pending: PendingLogin,
  ): Promise<{ readonly identity: ExternalIdentity }> {
    const client = await import("openid-client");
    const configuration = await this.#configuration();
    const url = new URL(`${pending.redirectUri}?${answer.toString()}`);
    try {
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as IDToken;
      // Some providers return claims only at the user info endpoint.
      const userInfo = this.#isComplete(claims)
        ? {}
        : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => ({}));
      return { identity: this.#identityFrom({ ...userInfo, ...claims }) };
    } catch (error) {
      if (error instanceof LoginRefused) throw error;
      const { error: code = "" } = error as { error?: unknown };
      const why = typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
      throw new LoginRefused(`The identity provider did not confirm your login${why}. Try again.`, {
        reason: `the identity provider did not confirm the login: ${visible((error as Error).message, 200)}${why}`,
        cause: error,
      });
    }
  }

  #isComplete(claims: IDToken): boolean {
    return claims["email"] !== undefined && claimIn(claims, this.#settings.groupsClaim) !== undefined;
  }

  #identityFrom(claims: IDToken): ExternalIdentity {
    const {
      iss: issuer,
      sub: subject,
      email,
      preferred_username: username,
      email_verified: verified,
    } = claims;
    const shown = [email, username].find((text): text is string => typeof text === "string" && text !== "");
    const listed = claimIn(claims, this.#settings.groupsClaim);
    const groups = (Array.isArray(listed) ? listed : [listed]).filter((one) => typeof one === "string");
    return {
      issuer,
      subject,
      emailVerified: verified === true && shown === email,
      groups: groups.slice(0, MAX_GROUPS),
      ...(shown === undefined ? {} : { email: shown.slice(0, 254) }),
    };
  }

  /** If an admin group is set, it decides who is an administrator. Other roles stay as they are. */
  #role({ issuer, subject, groups = [] }: ExternalIdentity): Pick<ExternalIdentity, "role"> {
    const { adminGroup } = this.#settings;
    if (adminGroup === undefined) return {};
    if (groups.includes(adminGroup)) return { role: "admin" };
    const known = this.#parts.accounts.byIdentity(issuer, subject);
    return known?.role === "admin" ? { role: "member" } : {};
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

  /** Reads the metadata of the provider again after an hour, because keys and addresses may change. A failed read is not cached. */
  #configuration(): Promise<Configuration> {
    if (!this.#metadata || this.#metadata.at + METADATA_MS < this.#now()) {
      const configuration = this.#discover();
      this.#metadata = { at: this.#now(), configuration };
      configuration.catch(() => {
        this.#metadata = undefined;
      });
    }
    return this.#metadata.configuration;
  }

  async #discover(): Promise<Configuration> {
    const client = await import("openid-client");
    const { issuer, clientId, clientSecret } = this.#settings;
    const authentication = clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret);
    // The check at start allows http: only for issuers on this machine.
    const execute = [
      client.enableNonRepudiationChecks,
      ...(issuer.startsWith("http:") ? [client.allowInsecureRequests] : []),
    ];
    return await client.discovery(new URL(issuer), clientId, undefined, authentication, { execute });
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

/** For `a.b` returns the claim with that name, or else `b` inside `a`. */
function claimIn(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((within, name) => {
    const isObject = typeof within === "object" && within !== null;
    return isObject && Object.hasOwn(within, name) ? (within as Record<string, unknown>)[name] : undefined;
  }, claims);
}
