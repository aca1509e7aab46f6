/** An OpenID Connect provider for tests, with one client. A test sets the claims. Logs in without a form. */
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { atEnd } from "./shared.ts";

export const OIDC_CLIENT = { id: "metamcp", secret: "a-client-secret-of-the-test" } as const;

export interface IdentityProvider {
  readonly issuer: string;
  /** Claims of the next login. */
  claims: JWTPayload & { sub: string };
  /** Answer of the userinfo endpoint; undefined: 403. */
  userinfo: Record<string, unknown> | undefined;
  /** Makes the id token invalid: changes its claims, signs it with a wrong key, or does not sign it. */
  spoil: { claims?: (claims: JWTPayload) => JWTPayload; wrongKey?: boolean; unsigned?: boolean };
  /** Bodies of the requests to the token endpoint. */
  readonly exchanged: URLSearchParams[];
  /** Issues refresh tokens, which are valid once. */
  refreshes: boolean;
  /** Answer to refresh tokens, instead of new tokens: an OAuth error, or "down". */
  refusal: string | undefined;
  /**
   * Tells nothing about a person after the login: answers to refresh tokens have no id token, and there is no
   * userinfo.
   */
  silent: boolean;
  /** Refresh tokens are answered only after this. */
  answersAfter: Promise<void> | undefined;
  /** A refresh token, as after a login. */
  firstRefreshToken(): string;
  /** A logout token. A claim that is undefined is omitted. */
  logoutToken(
    claims?: Readonly<Record<string, unknown>>,
    options?: { wrongKey?: boolean; typ?: string },
  ): Promise<string>;
}

export const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Made once per process, because a pair takes 0.2 s. */
let pairs: ReturnType<typeof makePairs> | undefined;
const makePairs = () =>
  Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")]);

export async function identityProvider(): Promise<IdentityProvider> {
  pairs ??= makePairs();
  const [right, wrong] = await pairs;
  const jwk = { ...(await exportJWK(right.publicKey)), kid: "one", alg: "RS256", use: "sig" };
  const codes = new Map<string, URLSearchParams>();
  const refreshTokens = new Set<string>();
  const provider = {
    claims: { sub: "1" },
    userinfo: undefined,
    spoil: {},
    exchanged: [],
    issuer: "",
    refreshes: false,
    refusal: undefined,
    silent: false,
    answersAfter: undefined,
    firstRefreshToken() {
      const token = randomBytes(16).toString("hex");
      refreshTokens.add(token);
      return token;
    },
    async logoutToken(
      claims: Readonly<Record<string, unknown>> = {},
      { wrongKey = false, typ = "logout+jwt" } = {},
    ) {
      const now = Math.floor(Date.now() / 1_000);
      const standard = {
        iss: provider.issuer,
        aud: OIDC_CLIENT.id,
        iat: now,
        exp: now + 120,
        jti: randomBytes(8).toString("hex"),
        events: { [LOGOUT_EVENT]: {} },
      };
      const payload = JSON.parse(JSON.stringify({ ...standard, ...claims })) as JWTPayload;
      const { privateKey } = wrongKey ? wrong : right;
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: "RS256", kid: "one", typ })
        .sign(privateKey);
    },
  } as { -readonly [K in keyof IdentityProvider]: IdentityProvider[K] };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", provider.issuer);
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const answer = async (): Promise<void> => {
      switch (url.pathname) {
        case "/.well-known/openid-configuration":
          return json({
            issuer: provider.issuer,
            authorization_endpoint: `${provider.issuer}/authorize`,
            token_endpoint: `${provider.issuer}/token`,
            ...(!provider.silent && { userinfo_endpoint: `${provider.issuer}/userinfo` }),
            jwks_uri: `${provider.issuer}/jwks`,
            end_session_endpoint: `${provider.issuer}/end`,
            response_types_supported: ["code"],
            subject_types_supported: ["public"],
            id_token_signing_alg_values_supported: ["RS256"],
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
          });
        case "/jwks":
          return json({ keys: [jwk] });
        case "/userinfo":
          return provider.userinfo ? json(provider.userinfo) : json({}, 403);
        case "/authorize": {
          const code = randomBytes(16).toString("hex");
          codes.set(code, url.searchParams);
          const back = new URL(url.searchParams.get("redirect_uri") ?? "");
          back.searchParams.set("code", code);
          back.searchParams.set("state", url.searchParams.get("state") ?? "");
          back.searchParams.set("iss", provider.issuer);
          back.searchParams.set("session_state", "what some providers add");
          return void response.writeHead(302, { location: back.href }).end();
        }
        case "/token": {
          let text = "";
          for await (const chunk of request) text += String(chunk);
          const form = new URLSearchParams(text);
          provider.exchanged.push(form);
          const shown = form.get("refresh_token");
          if (shown !== null) await provider.answersAfter;
          if (shown !== null && provider.refusal === "down") return json({}, 503);
          if (shown !== null && (provider.refusal !== undefined || !refreshTokens.delete(shown)))
            return json({ error: provider.refusal ?? "invalid_grant" }, 400);
          const asked = codes.get(form.get("code") ?? "");
          codes.delete(form.get("code") ?? "");
          const challenge = createHash("sha256")
            .update(form.get("code_verifier") ?? "")
            .digest("base64url");
          const valid =
            asked?.get("code_challenge") === challenge &&
            asked.get("code_challenge_method") === "S256" &&
            asked.get("redirect_uri") === form.get("redirect_uri") &&
            form.get("client_secret") === OIDC_CLIENT.secret;
          if (!valid && shown === null) return json({ error: "invalid_grant" }, 400);
          const now = Math.floor(Date.now() / 1_000);
          const standard: JWTPayload = {
            iss: provider.issuer,
            aud: OIDC_CLIENT.id,
            iat: now,
            exp: now + 60,
            ...(asked && { nonce: asked.get("nonce") }),
            ...provider.claims,
          };
          const claims = provider.spoil.claims?.(standard) ?? standard;
          const header = { alg: "RS256", kid: "one" };
          const { privateKey } = provider.spoil.wrongKey ? wrong : right;
          const signed = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
          const unsigned = [{ alg: "none" }, claims].map((part) =>
            Buffer.from(JSON.stringify(part)).toString("base64url"),
          );
          const token = provider.spoil.unsigned ? `${unsigned.join(".")}.` : signed;
          const refresh_token = provider.refreshes ? randomBytes(16).toString("hex") : undefined;
          if (refresh_token !== undefined) refreshTokens.add(refresh_token);
          const id_token = provider.silent && shown !== null ? undefined : token;
          const expiry = { token_type: "Bearer", expires_in: 60 };
          return json({ access_token: "at", ...expiry, id_token, refresh_token });
        }
        default:
          return json({}, 404);
      }
    };
    void answer().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => server.close().closeAllConnections());
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}
