/** A machine client of a gateway that asks for tokens with `client_credentials`. */
import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { TeamGateway } from "./team-gateway.ts";

export interface TokenAnswer {
  readonly status: number;
  readonly body: { readonly access_token?: string; readonly expires_in?: number; readonly error?: string };
}

export async function askForToken(
  url: string,
  params: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  const given = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const response = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams([["grant_type", "client_credentials"], ...given]).toString(),
  });
  return { status: response.status, body: (await response.json()) as TokenAnswer["body"] };
}

export function resourceOf(url: string, endpoint: string): string {
  return `${url}/metamcp/${endpoint}/mcp`;
}

export interface SecretMachine {
  readonly id: string;
  readonly secret: string;
  token(endpoint: string): Promise<TokenAnswer>;
}

/** A machine client with a secret. */
export async function secretMachine(
  { api, url }: Pick<TeamGateway, "api" | "url">,
  more: object = {},
): Promise<SecretMachine> {
  const made = await api("POST", "/api-keys", { name: "build", endpoints: "all", machine: {}, ...more });
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  const { uuid: id, key: secret } = made.body;
  const token = (endpoint: string) =>
    askForToken(url, { client_id: id, client_secret: secret, resource: resourceOf(url, endpoint) });
  return { id, secret, token };
}

export const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** A machine client that signs with a key of its own. */
export async function signingMachine(
  { api, url }: Pick<TeamGateway, "api" | "url">,
  { alg = "ES256", ...more }: { readonly alg?: "ES256" | "RS256" } & Readonly<Record<string, unknown>> = {},
) {
  const pair = await generateKeyPair(alg, { extractable: true });
  const publicKey = { ...(await exportJWK(pair.publicKey)), kid: "one" };
  const made = await api("POST", "/api-keys", {
    name: "robot",
    endpoints: "all",
    machine: { jwks: { keys: [publicKey] } },
    ...more,
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made));
  const id: string = made.body.uuid;
  /** `claims` replaces those of a valid assertion. */
  const assertion = (claims: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: id, sub: id, aud: url, jti: randomUUID(), iat: now, exp: now + 60 };
    return new SignJWT({ ...usual, ...claims }).setProtectedHeader({ alg, kid: "one" }).sign(pair.privateKey);
  };
  const tokenBy = (text: string, endpoint = "one") =>
    askForToken(url, {
      client_assertion_type: ASSERTION,
      client_assertion: text,
      resource: resourceOf(url, endpoint),
    });
  return { id, made, publicKey, pair, assertion, tokenBy };
}
