/**
 * Configures oidc-provider for what MCP clients need: codes with PKCE, resource indicators, registration,
 * refresh token rotation. Loaded on first use.
 */
import type { EventEmitter } from "node:events";
import Provider, {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
} from "oidc-provider";
import { faultPage, pageHeaders, pageText } from "../pages/html.ts";
import { type AdapterParts, createAdapter, touchClient } from "./adapter.ts";
import { isOnThisMachine, normalizeMetadata } from "./client-metadata.ts";
import { ACCESS_TOKEN_S } from "./grants.ts";
import { checkAssertionEnd, compareSecrets, MACHINE_TOKEN_S } from "./machine-client.ts";
import { redirectHost } from "./pages.ts";
import type { AuthorizationParts } from "./parts.ts";
import { isPublic } from "./public-fetch.ts";
import { SharedRateLimiter } from "./rate-limiter.ts";
import { audienceOf, endpointIn, SCOPE } from "./resource.ts";
import { LOGIN, ROUTES } from "./routes.ts";
import { endpointAtAddress, saveGrant } from "./save-grant.ts";

const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;
const FETCHES_A_MINUTE = 20;

export function createProvider(parts: AuthorizationParts): Provider {
  const { base, key, store, log, idOf, grants } = parts;
  const endpointAt = (resource: string): string | undefined => endpointAtAddress(parts, resource);
  const adapterParts: AdapterParts = { ...parts, endpointAt };
  const provider = new Provider(base(), {
    ...configurationOf(parts),
    adapter: createAdapter(adapterParts),
    jwks: { keys: [key.private] },
    cookies: cookies(store.sealer.derive("oauth-cookies")),
    loadExistingGrant: (ctx) => existingGrant(ctx, parts),
    async extraTokenClaims(_ctx, token) {
      if (token.kind === "ClientCredentials")
        return { machine: true, eid: endpointAt(String(token.aud)) ?? "" };
      if (!("grantId" in token)) return undefined;
      const gid = idOf("Grant", String(token.grantId));
      return { gid, eid: (await grants.scopeOf(gid))?.endpoint };
    },
    renderError(ctx, { error, error_description: text }) {
      const page = faultPage(text ?? error, ctx.status);
      ctx.set(pageHeaders(page));
      ctx.body = pageText(page);
    },
  });
  compareSecrets(provider.Client, parts.machines);
  // `server.ts` has replaced the forwarded headers with our own, so they can be trusted.
  provider.proxy = true;
  provider.use(dropForeignSession(provider, parts));
  provider.use(trimMetadata(parts));
  provider.on("server_error", (_ctx, error) => log.error(`authorization server: ${error.stack}`));
  // Koa, on which oidc-provider is built, reports errors while a response is written.
  (provider as EventEmitter).on("error", (error: Error) =>
    log.warn(`authorization server: ${error.message}`),
  );
  provider.on("grant.success", ({ oidc }) => {
    const { client, grant } = oidc;
    if (!client || !grant?.jti) return;
    const written = [touchClient(adapterParts, client.clientId), grants.used(idOf("Grant", grant.jti))];
    void Promise.all(written).catch((error: Error) => log.warn(`authorization server: ${error.message}`));
  });
  return provider;
}

function configurationOf(parts: AuthorizationParts): Configuration {
  const { accounts, machines, fetch, addressOf, now, recheck, store } = parts;
  const fetches = new SharedRateLimiter("client metadata", FETCHES_A_MINUTE, store.tries);
  return {
    routes: ROUTES,
    scopes: [SCOPE],
    claims: { openid: ["sub"] },
    responseTypes: ["code"],
    pkce: { required: () => true },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    enabledJWA: {
      idTokenSigningAlgValues: ["ES256"],
      clientAuthSigningAlgValues: ["RS256", "ES256", "EdDSA"],
    },
    // The HTTP server has already checked the origin.
    clientBasedCORS: () => true,
    fetch: (from, init) => fetch(from instanceof Request ? from.url : from, init as RequestInit),
    fetchResponseBodyLimits: { jwks_uri: 64 * 1024, sector_identifier_uri: 64 * 1024 },
    assertJwtClientAuthClaimsAndHeader: (_ctx, { exp }) => checkAssertionEnd(exp, store.now()),
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: true, initialAccessToken: false, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: "draft-02",
        allowFetch: async (ctx, id) =>
          isPublic(new URL(id)) && (await fetches.take(addressOf(ctx.req), now())) === 0,
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        defaultResource(_ctx, _client, oneOf) {
          if (oneOf?.length) return oneOf;
          throw new errors.InvalidTarget("resource must be the address of an endpoint");
        },
        getResourceServerInfo: (ctx, resource, client) =>
          resourceServer(ctx, { resource, client: client.clientId }, parts),
      },
    },
    extraClientMetadata: {
      // The validator runs for every client, with all of its metadata.
      properties: ["metamcp"],
      validator(_ctx, _name, _value, metadata) {
        if (machines.machineOf(String(metadata["client_id"]))) return;
        const fault = normalizeMetadata(metadata as Record<string, unknown>);
        if (fault !== undefined) throw new errors.InvalidClientMetadata(fault);
      },
    },
    formats: {
      customizers: {
        // All replicas judge tokens by the clock of the database.
        jwt(_ctx, _token, { payload }) {
          const ahead = Math.round((store.now() - now()) / 1_000);
          for (const time of ["iat", "exp"]) payload[time] = Number(payload[time]) + ahead;
        },
      },
    },
    interactions: { policy: policyOf(parts), url: (_ctx, { uid }) => `${LOGIN}/${uid}` },
    async findAccount(_ctx, id, token) {
      if (token?.kind === "RefreshToken") await recheck?.(id);
      const account = accounts.byId(id);
      return account && !account.disabled
        ? { accountId: account.uuid, claims: () => ({ sub: account.uuid }) }
        : undefined;
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: MINUTE_S,
      RefreshToken: 30 * DAY_S,
      Grant: 365 * DAY_S,
      Interaction: 30 * MINUTE_S,
      Session: 30 * MINUTE_S,
      IdToken: ACCESS_TOKEN_S,
    },
  };
}

function cookies(secret: Buffer): NonNullable<Configuration["cookies"]> {
  return {
    keys: [secret.toString("base64url")],
    names: { session: "metamcp_flow", interaction: "metamcp_login", resume: "metamcp_resume" },
    long: { httpOnly: true, sameSite: "lax", signed: true, overwrite: true, path: "/oauth" },
    short: { httpOnly: true, sameSite: "lax", signed: true, overwrite: true },
  };
}

/**
 * Accepts every endpoint name, except those with `oauth` off, so that callers cannot find out which endpoints
 * exist.
 */
function resourceServer(
  { oidc }: KoaContextWithOIDC,
  { resource, client }: { readonly resource: string; readonly client: string },
  parts: AuthorizationParts,
) {
  const { base, allowsOAuth, machines } = parts;
  const requested = oidc.params?.["resource"];
  if (Array.isArray(requested) && requested.length > 1)
    throw new errors.InvalidTarget("resource must be a single address");
  const endpoint = endpointIn(base(), resource);
  const machine = machines.machineOf(client);
  const opens = !machine || machine.opens(endpointAtAddress(parts, resource) ?? "");
  if (endpoint === undefined || !allowsOAuth(endpoint) || !opens)
    throw new errors.InvalidTarget("resource must be the address of an endpoint");
  return {
    scope: SCOPE,
    audience: audienceOf(base(), endpoint),
    accessTokenTTL: machine ? MACHINE_TOKEN_S : ACCESS_TOKEN_S,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: "ES256" } },
  } as const;
}

function policyOf({ logins }: AuthorizationParts): interactionPolicy.DefaultPolicy {
  const { Check, Prompt, base } = interactionPolicy;
  const policy = base();
  policy.clear();
  // The console session is the only login, so a logout there also counts here.
  const login = new Check("no_login", "a login is needed", "login_required", ({ oidc, req }) => {
    const { account, session } = oidc;
    return !account || logins.of(req.headers)?.uuid !== session?.accountId;
  });
  const consent = new Check("no_consent", "consent is needed", "consent_required", ({ oidc }) => {
    const { grant, resourceServers = {} } = oidc as typeof oidc & { grant?: ResourceGrant };
    return !Object.keys(resourceServers).every((resource) => grant?.getResourceScope(resource) === SCOPE);
  });
  policy.add(new Prompt({ name: "login", requestable: true }, login));
  policy.add(new Prompt({ name: "consent", requestable: true }, consent));
  return policy;
}

interface ResourceGrant {
  getResourceScope(resource: string): string;
}

/**
 * Skips the consent page if the user consented to the same client, endpoint and redirect host before. It
 * creates a new grant, because all tokens of a grant belong to one login. Clients on the user's machine ask
 * each time, because nothing proves which program listens there (RFC 8252, 8.6).
 */
async function existingGrant({ oidc }: KoaContextWithOIDC, parts: AuthorizationParts) {
  const given = oidc.result?.consent?.grantId;
  if (given !== undefined) return await oidc.provider.Grant.find(given);
  const { account, client, params } = oidc;
  const { resource, redirect_uri: redirectUri } = params ?? {};
  if (!account || !client || typeof resource !== "string" || oidc.promptPending("consent")) return undefined;
  if (typeof redirectUri !== "string" || isOnThisMachine(redirectUri)) return undefined;
  const endpoint = endpointAtAddress(parts, resource);
  if (endpoint === undefined) return undefined;
  const holder = { account: account.accountId, client: client.clientId };
  const scope = { ...holder, endpoint, redirectHost: redirectHost(redirectUri) };
  if (!(await parts.grants.isConsented(scope))) return undefined;
  return await saveGrant(oidc.provider, parts, scope, resource);
}

type Middleware = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;

/**
 * Removes the session cookie of oidc-provider from an authorization request if it belongs to another account
 * than the console session.
 */
function dropForeignSession(provider: Provider, { logins }: AuthorizationParts): Middleware {
  const name = provider.cookieName("session");
  const sessionCookies = new RegExp(`(?:^|; *)${name}(?:\\.sig)?=[^;]*`, "g");
  return async (ctx, next) => {
    if (ctx.path === ROUTES.authorization) {
      const id = ctx.cookies.get(name, { signed: true });
      const session = id === undefined ? undefined : await provider.Session.find(id);
      const { headers } = ctx.req;
      if (session?.accountId === undefined || session.accountId !== logins.of(headers)?.uuid)
        headers.cookie = headers.cookie?.replace(sessionCookies, "") ?? "";
    }
    await next();
  };
}

/** Removes features that are not offered from the server metadata. */
function trimMetadata({ registers }: AuthorizationParts): Middleware {
  return async (ctx, next) => {
    await next();
    if (ctx.path !== ROUTES.metadata || ctx.status !== 200) return;
    const body = ctx.body as Record<string, unknown>;
    body["response_modes_supported"] = ["query"];
    if (!registers()) delete body["registration_endpoint"];
    for (const name of ["claims_parameter_supported", "claims_supported", "request_uri_parameter_supported"])
      delete body[name];
  };
}
