/** Deletes a stored login, then revokes its tokens at the issuer if the issuer supports that. */
import type { OAuthSpec } from "../config/spec.ts";
import { type Grant, withoutGrant } from "./grant.ts";
import { clientOf } from "./renew.ts";
import { fetchFor, loadSdk } from "./sdk.ts";
import type { LoginDataStore } from "./store.ts";

/** Resolves with whether the issuer has revoked the tokens. */
export async function logOut(
  store: LoginDataStore,
  grant: Grant,
  oauth: OAuthSpec | undefined,
): Promise<boolean> {
  let last = grant;
  await store.update((loginData) => {
    // The tokens may have been renewed since `grant` was read.
    last =
      loginData.grants.find(({ url, account }) => url === grant.url && account === grant.account) ?? grant;
    return withoutGrant(loginData, grant);
  });
  const { refreshToken, accessToken } = last;
  const tokens = [
    ...(refreshToken === undefined ? [] : [["refresh_token", refreshToken] as const]),
    ["access_token", accessToken] as const,
  ];
  const done = await Promise.all(tokens.map(([kind, token]) => revoke(last, { kind, token }, oauth)));
  return done.every(Boolean);
}

async function revoke(
  grant: Grant,
  { kind, token }: { readonly kind: string; readonly token: string },
  oauth: OAuthSpec | undefined,
): Promise<boolean> {
  const { revocation_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = grant.issuer;
  if (endpoint === undefined) return false;
  const sdk = await loadSdk();
  const client = clientOf(grant, oauth);
  const body = new URLSearchParams({ token, token_type_hint: kind });
  const headers: Record<string, string> = {};
  if (sdk.selectClientAuthMethod(client, methods ?? []) === "client_secret_basic") {
    const pair = [client.client_id, client.client_secret ?? ""].map(encodeURIComponent).join(":");
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    body.set("client_id", client.client_id);
    if (client.client_secret !== undefined) body.set("client_secret", client.client_secret);
  }
  try {
    const url = sdk.assertSecureTokenEndpoint(endpoint);
    const response = await fetchFor(grant.url)(url, { method: "POST", headers, body, redirect: "error" });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
