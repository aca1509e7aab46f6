/**
 * Chooses MetaMCP's client identity at an issuer: the configured one, else its metadata document, else a
 * registration.
 */
import type { OAuthSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { shownUrl } from "../kernel/shown-url.ts";
import type { ClientId, LoginData, Registration } from "./grant.ts";
import type { LoginTarget } from "./login-target.ts";
import type { Sdk } from "./sdk.ts";

const NO_ISSUER =
  'it has no authorization server. It may need a key instead: "headers": { "Authorization": "Bearer …" }';

export interface OAuthClient {
  readonly id: ClientId;
  readonly configured: boolean;
  /** A new registration, which the caller must store. */
  readonly registered?: Registration;
}

export interface ClientRequirements {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly now: number;
}

export async function clientFor(
  sdk: Sdk,
  { target, oauth, loginData }: { target: LoginTarget; oauth: OAuthSpec | undefined; loginData: LoginData },
  requirements: ClientRequirements,
): Promise<OAuthClient> {
  const { clientId, clientSecret, clientMetadataUrl } = oauth ?? {};
  if (clientId !== undefined) {
    if (clientSecret !== undefined) checkIssuer(loginData, clientId, target);
    return { id: { client_id: clientId, client_secret: clientSecret?.reveal() }, configured: true };
  }
  if (clientMetadataUrl !== undefined && target.metadata?.client_id_metadata_document_supported === true) {
    sdk.validateClientMetadataUrl(clientMetadataUrl);
    return { id: { client_id: clientMetadataUrl }, configured: false };
  }
  const known = registrationFor(loginData, target.issuer.issuer, requirements.now);
  if (known?.redirectUri === requirements.redirectUri) return { id: known.client, configured: false };
  const registered = await register(sdk, target, requirements);
  return { id: registered.client, configured: false, registered };
}

/** An attacker who takes over a server could name another issuer and so get the secret. */
export function checkIssuer(
  { grants }: LoginData,
  clientId: string,
  { issuer: { issuer } }: LoginTarget,
): void {
  const known = grants.filter(({ configured, client }) => configured && client.client_id === clientId);
  if (known.length === 0 || known.some((grant) => grant.issuer.issuer === issuer)) return;
  throw new MetaMcpError(
    "auth_required",
    `the server now uses another issuer (${shownUrl(issuer)}), which would get the clientSecret of the config; ` +
      "if this is intended, end the old login first with --logout",
  );
}

/** The last registration that has not expired. Using its redirect address again saves a new registration. */
export function registrationFor(loginData: LoginData, issuer: string, now: number): Registration | undefined {
  return loginData.registrations.findLast(
    (one) => one.issuer === issuer && (one.expiresAt === undefined || one.expiresAt > now),
  );
}

export function withRegistration(loginData: LoginData, added: Registration): LoginData {
  const others = loginData.registrations.filter(
    ({ issuer, redirectUri }) => issuer !== added.issuer || redirectUri !== added.redirectUri,
  );
  return { ...loginData, registrations: [...others, added] };
}

async function register(
  sdk: Sdk,
  target: LoginTarget,
  { redirectUri, scopes }: ClientRequirements,
): Promise<Registration> {
  const { metadata, server, issuer, fetch } = target;
  if (metadata && !metadata.registration_endpoint) {
    throw new MetaMcpError(
      "auth_required",
      `${issuer.issuer} does not register clients automatically. Register MetaMCP there yourself, with the redirect address ` +
        `${isNative(redirectUri) ? "http://127.0.0.1/callback" : redirectUri}, and write the client id into the config: "oauth": { "clientId": "…" }`,
    );
  }
  const registering = sdk.registerClient(server, {
    ...(metadata && { metadata }),
    fetchFn: fetch,
    clientMetadata: {
      client_name: "MetaMCP",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: methodFor(issuer.token_endpoint_auth_methods_supported),
      application_type: isNative(redirectUri) ? "native" : "web",
    },
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  });
  const full = await registering.catch((error: unknown) => {
    throw metadata ? error : new MetaMcpError("auth_required", NO_ISSUER);
  });
  const { client_id, client_secret, token_endpoint_auth_method, client_secret_expires_at: end } = full;
  return {
    issuer: issuer.issuer,
    redirectUri,
    client: { client_id, client_secret, token_endpoint_auth_method },
    expiresAt: end ? end * 1000 : undefined,
  };
}

/** True for the local listener of a command, false for the callback of a gateway. */
function isNative(redirectUri: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d+\/callback$/.test(redirectUri);
}

/**
 * A program on a user's machine cannot keep a secret, so a client secret is used only if the issuer requires
 * it.
 */
function methodFor(supported: readonly string[] | undefined): string {
  if (!supported || supported.includes("none")) return "none";
  return supported.includes("client_secret_basic") ? "client_secret_basic" : "client_secret_post";
}
