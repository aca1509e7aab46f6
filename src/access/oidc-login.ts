/**
 * Logs people in at an outside identity provider: authorization code with PKCE, state and nonce. What must be remembered
 * between leaving and coming back is in a sealed cookie, so another browser's answer is worth nothing.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Configuration, IDToken } from "openid-client";
import type { Sealer } from "../store/store.ts";
import type { Account, OutsideIdentity } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { cookieValues } from "./cookies.ts";
import { ownPath } from "./own-path.ts";

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** The claim that lists groups; with dots: a claim within one. */
  readonly groupsClaim: string;
  /** Who is in it is an administrator, who is not is none. */
  readonly adminGroup: string | undefined;
  /** Only who is in one of these may log in. */
  readonly allowGroups: readonly string[];
  /** Where the provider sends people back to. */
  readonly callback: string;
}

export interface OidcParts {
  readonly accounts: Accounts;
  readonly sealer: Pick<Sealer, "seal" | "open">;
  readonly publicUrl: () => string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Why somebody is not let in, in words that may be shown. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
}

interface Pending {
  readonly of: "oidc-login";
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
  readonly expiresAt: number;
}

const PATIENCE_MS = 10 * 60_000;
const FRESH_MS = 60 * 60_000;
const MOST_GROUPS = 500;

export class OidcLogin {
  readonly #settings: OidcSettings;
  readonly #parts: OidcParts;
  #known: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;

  constructor(settings: OidcSettings, parts: OidcParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** The host of the identity provider. */
  get provider(): string {
    return new URL(this.#settings.issuer).host;
  }

  /** Where to send the browser, and the cookie that it must come back with. */
  async begin(returnTo: string | undefined): Promise<{ readonly url: string; readonly cookie: string }> {
    const client = await import("openid-client");
    const configuration = await this.#configuration();
    const verifier = client.randomPKCECodeVerifier();
    const pending: Pending = {
      of: "oidc-login",
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier,
      redirectUri: `${this.#parts.publicUrl()}${this.#settings.callback}`,
      returnTo: ownPath(returnTo ?? "/") ?? "/",
      expiresAt: this.#now() + PATIENCE_MS,
    };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: pending.redirectUri,
      scope: "openid email profile",
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const sealed = Buffer.from(this.#parts.sealer.seal(JSON.stringify(pending))).toString("base64url");
    return { url: url.href, cookie: this.#cookie(sealed, PATIENCE_MS / 1_000) };
  }

  /** Rejects with LoginRefused. */
  async finish(
    answer: URLSearchParams,
    headers: Pick<IncomingHttpHeaders, "cookie">,
  ): Promise<{ readonly account: Account; readonly returnTo: string }> {
    const pending = this.#pending(headers);
    if (!pending)
      throw new LoginRefused("This login was started in another browser, or too long ago. Try again.");
    const { identity } = await this.#identity(answer, pending);
    const { allowGroups } = this.#settings;
    const { groups = [] } = identity;
    if (allowGroups.length > 0 && !allowGroups.some((group) => groups.includes(group)))
      throw new LoginRefused("None of your groups may use this gateway. Ask an administrator.");
    const account = await this.#parts.accounts.ofIdentity({ ...identity, ...this.#role(identity) });
    if (account.disabled) throw new LoginRefused("Your account is disabled. Ask an administrator.");
    return { account, returnTo: pending.returnTo };
  }

  /** Takes the cookie of the way back away: it is good for one answer. */
  get cleared(): string {
    return this.#cookie("", 0);
  }

  async #identity(
    answer: URLSearchParams,
    pending: Pending,
  ): Promise<{ readonly identity: OutsideIdentity }> {
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
      // What an id token leaves out, some providers tell when asked.
      const asked = this.#isComplete(claims)
        ? {}
        : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => ({}));
      return { identity: this.#read({ ...asked, ...claims }) };
    } catch (error) {
      if (error instanceof LoginRefused) throw error;
      const { error: code = "" } = error as { error?: unknown };
      const why = typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
      throw new LoginRefused(`The identity provider did not confirm your login${why}. Try again.`, {
        cause: error,
      });
    }
  }

  #isComplete(claims: IDToken): boolean {
    return claims["email"] !== undefined && claimIn(claims, this.#settings.groupsClaim) !== undefined;
  }

  #read(claims: IDToken): OutsideIdentity {
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
      groups: groups.slice(0, MOST_GROUPS),
      ...(shown === undefined ? {} : { email: shown.slice(0, 254) }),
    };
  }

  /** Where an admin group is set, it decides who is one; other roles stay as they were given here. */
  #role({ issuer, subject, groups = [] }: OutsideIdentity): Pick<OutsideIdentity, "role"> {
    const { adminGroup } = this.#settings;
    if (adminGroup === undefined) return {};
    if (groups.includes(adminGroup)) return { role: "admin" };
    const known = this.#parts.accounts.byIdentity(issuer, subject);
    return known?.role === "admin" ? { role: "member" } : {};
  }

  #pending(headers: Pick<IncomingHttpHeaders, "cookie">): Pending | undefined {
    for (const value of cookieValues(headers, this.#name)) {
      try {
        const pending = JSON.parse(
          this.#parts.sealer.open(Buffer.from(value, "base64url").toString()),
        ) as Pending;
        if (pending.of === "oidc-login" && pending.expiresAt > this.#now()) return pending;
      } catch {
        // Not one of ours.
      }
    }
    return undefined;
  }

  /** Read anew now and then: providers change their keys and addresses. One that could not be read is asked again. */
  #configuration(): Promise<Configuration> {
    if (!this.#known || this.#known.at + FRESH_MS < this.#now()) {
      const configuration = this.#discover();
      this.#known = { at: this.#now(), configuration };
      configuration.catch(() => {
        this.#known = undefined;
      });
    }
    return this.#known.configuration;
  }

  async #discover(): Promise<Configuration> {
    const client = await import("openid-client");
    const { issuer, clientId, clientSecret } = this.#settings;
    const authentication = clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret);
    // Without TLS on this machine alone, which is checked at start.
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
    return `${this.#secure ? "__Host-" : ""}metamcp-oidc`;
  }

  #cookie(value: string, maxAge: number): string {
    const secure = this.#secure ? "; Secure" : "";
    return `${this.#name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }
}

/** `a.b`: the claim of that name, else `b` within `a`. */
function claimIn(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((within, name) => {
    const isObject = typeof within === "object" && within !== null;
    return isObject && Object.hasOwn(within, name) ? (within as Record<string, unknown>)[name] : undefined;
  }, claims);
}
