/**
 * Talks to the identity provider: exchanges and renews tokens, reads claims, verifies logout tokens. Changes
 * no account.
 */
import type { JWTVerifyGetKey } from "jose";
import type {
  AuthorizationCodeGrantChecks,
  Configuration,
  IDToken,
  TokenEndpointResponse,
  TokenEndpointResponseHelpers,
} from "openid-client";
import type { Account, ExternalIdentity } from "./account.ts";

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

/** What the provider says about a person who is logged in there. */
export interface ProviderLogin {
  readonly identity: ExternalIdentity;
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
  /** Id of the session at the provider. */
  readonly sid?: string | undefined;
}

/** The login at the provider still exists. */
export interface RenewedLogin {
  /** Replaces the one that was used, which may be valid only once. */
  readonly refreshToken: string;
  /** What the provider says about the person now. Undefined if it says nothing. Rejects if it cannot tell. */
  identity(): Promise<ExternalIdentity | undefined>;
}

const METADATA_MS = 60 * 60_000;
const MAX_GROUPS = 500;
/** In seconds. A refresh of our own tokens may wait for it. */
const TIMEOUT_S = 10;
const OFFLINE = "offline_access";

export class IdentityProvider {
  readonly settings: OidcSettings;
  readonly #now: () => number;
  #metadata: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;
  #keys: { readonly uri: string; readonly get: JWTVerifyGetKey } | undefined;

  constructor(settings: OidcSettings, now: () => number = Date.now) {
    this.settings = settings;
    this.#now = now;
  }

  get host(): string {
    return new URL(this.settings.issuer).host;
  }

  /** Whether logins there are meant to last while the person is away. */
  get isOffline(): boolean {
    return this.settings.scopes.includes(OFFLINE);
  }

  /** Exchanges the code of a callback. */
  async exchange(url: URL, checks: AuthorizationCodeGrantChecks): Promise<ProviderLogin> {
    const client = await import("openid-client");
    const configuration = await this.configuration();
    const tokens = await client.authorizationCodeGrant(configuration, url, checks);
    const claims = tokens.claims() as IDToken;
    // Some providers return claims only at the user info endpoint.
    const userInfo = this.#isComplete(claims)
      ? {}
      : await client.fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => ({}));
    const { sid } = claims;
    return {
      identity: this.#identityFrom({ ...userInfo, ...claims }),
      refreshToken: tokens.refresh_token,
      idToken: tokens.id_token,
      sid: typeof sid === "string" ? sid : undefined,
    };
  }

  /**
   * Asks the provider about a person again. Undefined if the login there has ended. Rejects if the provider
   * cannot tell.
   */
  async renew(
    refreshToken: string,
    { issuer, subject }: Pick<ExternalIdentity, "issuer" | "subject">,
  ): Promise<RenewedLogin | undefined> {
    const client = await import("openid-client");
    const configuration = await this.configuration();
    if (configuration.serverMetadata().issuer !== issuer) throw new Error(`the account belongs to ${issuer}`);
    try {
      const tokens = await client.refreshTokenGrant(configuration, refreshToken);
      return {
        refreshToken: tokens.refresh_token ?? refreshToken,
        identity: () => this.#renewedIdentity(configuration, tokens, { iss: issuer, sub: subject }),
      };
    } catch (error) {
      if ((error as { error?: unknown }).error === "invalid_grant") return undefined;
      throw error;
    }
  }

  async #renewedIdentity(
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
    expected: { readonly iss: string; readonly sub: string },
  ): Promise<ExternalIdentity | undefined> {
    // An id token is optional here.
    const said = tokens.claims();
    const claims = { ...expected, ...said };
    if (claims.sub !== expected.sub) throw new Error("the answer is about somebody else");
    if (said && this.#isComplete(said)) return this.#identityFrom(claims);
    if (configuration.serverMetadata().userinfo_endpoint === undefined)
      return said && this.#identityFrom(claims);
    const { fetchUserInfo } = await import("openid-client");
    const userInfo = await fetchUserInfo(configuration, tokens.access_token, expected.sub);
    return this.#identityFrom({ ...userInfo, ...claims });
  }

  /** The address that ends the session at the provider. Undefined if the provider has none. */
  async endSessionUrl(idToken: string): Promise<string | undefined> {
    const client = await import("openid-client");
    const configuration = await this.configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return client.buildEndSessionUrl(configuration, { id_token_hint: idToken }).href;
  }

  /** What verifies a token of the provider: its name, its keys, and the algorithms that it signs with. */
  async verification() {
    const { createRemoteJWKSet } = await import("jose");
    const metadata = (await this.configuration()).serverMetadata();
    const {
      issuer,
      jwks_uri: uri = "",
      id_token_signing_alg_values_supported: offered = ["RS256"],
    } = metadata;
    if (this.#keys?.uri !== uri) this.#keys = { uri, get: createRemoteJWKSet(new URL(uri)) };
    const algorithms = offered.filter((name) => /^(?:RS|PS|ES|Ed)/.test(name));
    return { issuer, keys: this.#keys.get, algorithms };
  }

  mayEnter({ groups = [] }: ExternalIdentity): boolean {
    const { allowGroups } = this.settings;
    return allowGroups.length === 0 || allowGroups.some((group) => groups.includes(group));
  }

  /** If an admin group is set, it decides who is an administrator. Other roles stay as they are. */
  withRole(identity: ExternalIdentity, known: Account | undefined): ExternalIdentity {
    const { adminGroup } = this.settings;
    if (adminGroup === undefined) return identity;
    if (identity.groups?.includes(adminGroup)) return { ...identity, role: "admin" };
    return known?.role === "admin" ? { ...identity, role: "member" } : identity;
  }

  /**
   * Reads the metadata of the provider again after an hour, because keys and addresses may change. A failed
   * read is not cached.
   */
  configuration(): Promise<Configuration> {
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
    const { issuer, clientId, clientSecret } = this.settings;
    const authentication = clientSecret === undefined ? client.None() : client.ClientSecretPost(clientSecret);
    // The check at start allows http: only for issuers on this machine.
    const execute = [
      client.enableNonRepudiationChecks,
      ...(issuer.startsWith("http:") ? [client.allowInsecureRequests] : []),
    ];
    const options = { execute, timeout: TIMEOUT_S };
    return await client.discovery(new URL(issuer), clientId, undefined, authentication, options);
  }

  #isComplete(claims: Readonly<Record<string, unknown>>): boolean {
    return claims["email"] !== undefined && claimIn(claims, this.settings.groupsClaim) !== undefined;
  }

  #identityFrom(claims: Readonly<Record<string, unknown>> & { iss: string; sub: string }): ExternalIdentity {
    const { iss: issuer, sub: subject, email, preferred_username: username } = claims;
    const shown = [email, username].find((text): text is string => typeof text === "string" && text !== "");
    const listed = claimIn(claims, this.settings.groupsClaim);
    const groups = (Array.isArray(listed) ? listed : [listed]).filter((one) => typeof one === "string");
    return {
      issuer,
      subject,
      emailVerified: claims["email_verified"] === true && shown === email,
      groups: groups.slice(0, MAX_GROUPS),
      ...(shown === undefined ? {} : { email: shown.slice(0, 254) }),
    };
  }
}

/** For `a.b` returns the claim with that name, or else `b` inside `a`. */
function claimIn(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((within, name) => {
    const isObject = typeof within === "object" && within !== null;
    return isObject && Object.hasOwn(within, name) ? (within as Record<string, unknown>)[name] : undefined;
  }, claims);
}
