/** An external issuer with its own keys and metadata. A test sets the claims of its tokens. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";
import { atEnd } from "./shared.ts";

interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly private: CryptoKey;
  readonly public: JWK;
}

export interface TokenIssuer {
  readonly url: string;
  /** Number of requests for its keys. */
  readonly requestCount: number;
  readonly keys: Key[];
  addKey(alg?: string, kid?: string): Promise<Key>;
  /** A token that is valid for an hour by default. A claim that is undefined is omitted. */
  token(
    claims?: Readonly<Record<string, unknown>>,
    options?: { readonly key?: Key; readonly header?: Partial<JWTHeaderParameters> },
  ): Promise<string>;
}

export async function newKey(alg = "RS256", kid = "first"): Promise<Key> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, private: pair.privateKey, public: { ...(await exportJWK(pair.publicKey)), kid, alg } };
}

export async function tokenIssuer(): Promise<TokenIssuer> {
  const keys: Key[] = [await newKey()];
  let asked = 0;
  const server = createServer((request, response) => {
    const answer = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url === "/.well-known/openid-configuration")
      return answer({ issuer: url, jwks_uri: `${url}/keys` });
    if (request.url !== "/keys") return response.writeHead(404).end();
    asked += 1;
    return answer({ keys: keys.map((key) => key.public) });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    keys,
    get requestCount() {
      return asked;
    },
    async addKey(alg, kid = `key ${keys.length}`) {
      const key = await newKey(alg, kid);
      keys.push(key);
      return key;
    },
    async token(claims = {}, { key = keys[0] as Key, header = {} } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const all = { iss: url, sub: "carol", scope: "mcp", client_id: "outside", iat: now, exp: now + 3_600 };
      const payload = JSON.parse(JSON.stringify({ ...all, ...claims })) as Record<string, unknown>;
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
        .sign(key.private);
    },
  };
}
