/**
 * Gets tokens for MetaMCP itself (`client_credentials`): with the client secret of the config, or with
 * assertions that its private key signs. Stores nothing.
 */
import { createPrivateKey, type KeyObject, randomUUID } from "node:crypto";
import type { OAuthSpec, RemoteSpec } from "../config/spec.ts";
import { MetaMcpError } from "../kernel/errors.ts";
import { checkIssuer } from "./client.ts";
import {
  addressOf,
  DEFAULT_ACCOUNT,
  type Grant,
  grantOf,
  type LoginData,
  union,
  validScopes,
} from "./grant.ts";
import { findLoginTarget, type LoginTarget } from "./login-target.ts";
import { withTokens } from "./renew.ts";
import { loadSdk, type Sdk, shownError } from "./sdk.ts";

/** Rejects with MetaMcpError. `loginData` has the grant before, whose issuer is kept. */
export async function machineGrant(spec: RemoteSpec, loginData: LoginData, now: number): Promise<Grant> {
  const sdk = await loadSdk();
  try {
    return await ask(sdk, { spec, loginData, now });
  } catch (error) {
    throw new MetaMcpError("auth_required", `no token for MetaMCP: ${shownError(sdk, error)}`);
  }
}

interface Asked {
  readonly spec: RemoteSpec;
  readonly loginData: LoginData;
  readonly now: number;
}

async function ask(sdk: Sdk, { spec, loginData, now }: Asked): Promise<Grant> {
  const { oauth = {} } = spec;
  const { clientId = "" } = oauth;
  const url = addressOf(spec.url);
  const before = grantOf(loginData, url, DEFAULT_ACCOUNT);
  const target = await findLoginTarget(sdk, spec);
  checkIssuer(loginData, clientId, target);
  const scopes = validScopes(union(oauth.scopes ?? target.scopes, before?.wanted));
  const tokens = await sdk.fetchToken(providerOf(sdk, oauth, target), target.server, {
    ...(target.metadata && { metadata: target.metadata }),
    ...(target.resource !== undefined && { resource: new URL(target.resource) }),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    fetchFn: target.fetch,
  });
  if (tokens.token_type.toLowerCase() !== "bearer")
    throw new MetaMcpError("auth_required", "the issuer uses a token type that MetaMCP does not support");
  const grant: Grant = {
    url,
    account: DEFAULT_ACCOUNT,
    // The same as before, so that sessions at the server go on with the new token.
    id: before?.id ?? randomUUID(),
    issuer: target.issuer,
    client: { client_id: clientId },
    configured: true,
    resource: target.resource,
    accessToken: "",
    scopes,
    ...(before?.wanted && { wanted: before.wanted }),
    obtainedAt: now,
  };
  // There is nothing to renew with: the client asks again.
  return { ...withTokens(grant, tokens, now), refreshToken: undefined };
}

/** Bound to the issuer that the server names; `checkIssuer` has refused a new one. */
function providerOf(sdk: Sdk, oauth: OAuthSpec, { server, metadata }: LoginTarget) {
  const { clientId = "", clientSecret, privateKey } = oauth;
  const common = { clientId, expectedIssuer: metadata?.issuer ?? server };
  if (clientSecret)
    return new sdk.ClientCredentialsProvider({ ...common, clientSecret: clientSecret.reveal() });
  const key = privateKeyIn(privateKey?.reveal() ?? "");
  return new sdk.PrivateKeyJwtProvider({
    ...common,
    privateKey: key.export({ format: "pem", type: "pkcs8" }) as string,
    algorithm: algorithmOf(key),
  });
}

function privateKeyIn(text: string): KeyObject {
  try {
    return text.trimStart().startsWith("{")
      ? createPrivateKey({ key: JSON.parse(text), format: "jwk" })
      : createPrivateKey(text);
  } catch {
    throw new MetaMcpError("auth_required", "oauth.privateKey is not a private key: write PEM or a JWK");
  }
}

/** The algorithms that every key of its kind can be used with. */
function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1") return "ES256";
  throw new MetaMcpError("auth_required", "oauth.privateKey must be an RSA, P-256 or Ed25519 key");
}
