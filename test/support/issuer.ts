/**
 * An OAuth 2.1 authorization server for tests: metadata, registration, authorization with automatic consent,
 * PKCE, rotating refresh tokens (a reused one revokes all tokens of its consent), revocation. Tokens expire
 * only when a test says so.
 */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./shared.ts";

interface Registered {
  readonly redirectUris: readonly string[];
  readonly secret: string | undefined;
}

interface Code {
  readonly client: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly resource: string | undefined;
  readonly scope: string;
}

/** All tokens of one consent. */
interface Family {
  readonly client: string;
  readonly resource: string | undefined;
  readonly scope: string;
  refresh: string;
  readonly spent: Set<string>;
  readonly access: Set<string>;
  revoked: boolean;
}

export interface Holder {
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
}

export interface IssuerRequest {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly authorization: string | undefined;
}

export class Issuer {
  readonly url: string;
  /** The announced lifetime of tokens. Tokens expire only by `expireAll`. */
  expiresIn: number | undefined = 3600;
  registers = true;
  /** Denies every authorization request. */
  denies = false;
  /** The `iss` in its redirects. Default: its own URL. */
  iss: string | undefined;
  /** The token endpoint answers 503. */
  down = false;
  /** Accepts client id metadata documents. */
  takesDocuments = false;
  tokenAuthMethods: readonly string[] = ["none"];
  /** All tokens, codes and secrets. They must not appear in any output. */
  readonly secrets = new Set<string>();
  readonly received: IssuerRequest[] = [];
  readonly clients = new Map<string, Registered>();
  readonly #codes = new Map<string, Code>();
  readonly #families: Family[] = [];

  constructor(url: string) {
    this.url = url;
  }

  /** The scopes and the resource of a valid token. */
  holderOf(token: string | undefined): Holder | undefined {
    const family = this.#families.find((one) => !one.revoked && token !== undefined && one.access.has(token));
    return family && { scopes: family.scope.split(" ").filter(Boolean), resource: family.resource };
  }

  /** Expires all access tokens. */
  expireAll(): void {
    for (const { access } of this.#families) access.clear();
  }

  /** Revokes all consents, so that refresh tokens are invalid too. */
  revokeAll(): void {
    for (const family of this.#families) family.revoked = true;
  }

  get families(): readonly Readonly<Family>[] {
    return this.#families;
  }

  requests(path: string, grantType?: string): IssuerRequest[] {
    return this.received.filter(
      (one) => one.path === path && (grantType === undefined || one.params.get("grant_type") === grantType),
    );
  }

  answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const form = request.headers["content-type"]?.includes("urlencoded")
      ? new URLSearchParams(body)
      : searchParams;
    this.received.push({ path: pathname, params: form, authorization: request.headers.authorization });
    if (pathname === "/.well-known/oauth-authorization-server") json(response, 200, this.#metadata());
    else if (pathname === "/register" && this.registers)
      this.#register(JSON.parse(body) as Registration, response);
    else if (pathname === "/authorize") this.#authorize(searchParams, response);
    else if (pathname === "/token") this.#token(form, request.headers.authorization, response);
    else if (pathname === "/revoke") this.#revoke(form, response);
    else json(response, 404, {});
  }

  #metadata(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      revocation_endpoint: `${this.url}/revoke`,
      ...(this.registers && { registration_endpoint: `${this.url}/register` }),
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: this.tokenAuthMethods,
      authorization_response_iss_parameter_supported: true,
      ...(this.takesDocuments && { client_id_metadata_document_supported: true }),
    };
  }

  #register({ redirect_uris, token_endpoint_auth_method }: Registration, response: ServerResponse): void {
    const id = `client-${this.clients.size + 1}`;
    const secret = token_endpoint_auth_method === "none" ? undefined : this.#secret("secret");
    this.clients.set(id, { redirectUris: redirect_uris, secret });
    json(response, 201, { client_id: id, client_secret: secret, redirect_uris, token_endpoint_auth_method });
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const client = query.get("client_id") ?? "";
    const redirectUri = query.get("redirect_uri") ?? "";
    const known = this.clients.get(client);
    // A client with a metadata document is not registered; its id is the URL of the document.
    const document = this.takesDocuments && client.startsWith("https://");
    if (!document && !known?.redirectUris.includes(redirectUri)) {
      json(response, 400, { error: "invalid_client" });
      return;
    }
    const back = new URL(redirectUri);
    back.searchParams.set("state", query.get("state") ?? "");
    back.searchParams.set("iss", this.iss ?? this.url);
    const challenge = query.get("code_challenge") ?? "";
    if (this.denies) back.searchParams.set("error", "access_denied");
    else if (
      query.get("code_challenge_method") !== "S256" ||
      query.get("response_type") !== "code" ||
      !challenge
    )
      back.searchParams.set("error", "invalid_request");
    else {
      const code = this.#secret("code");
      const resource = query.get("resource") ?? undefined;
      this.#codes.set(code, { client, redirectUri, challenge, resource, scope: query.get("scope") ?? "" });
      back.searchParams.set("code", code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  #token(form: URLSearchParams, authorization: string | undefined, response: ServerResponse): void {
    if (this.down) return json(response, 503, {});
    const client = this.#clientOf(form, authorization);
    if (client === undefined) return json(response, 401, { error: "invalid_client" });
    const family = this.#familyFor(form, client);
    if (!family) return json(response, 400, { error: "invalid_grant", error_description: form.toString() });
    const access = this.#secret("access");
    family.access.add(access);
    const isMachine = form.get("grant_type") === "client_credentials";
    if (!isMachine) family.refresh = this.#secret("refresh");
    json(response, 200, {
      access_token: access,
      ...(!isMachine && { refresh_token: family.refresh }),
      token_type: "Bearer",
      expires_in: this.expiresIn,
      scope: family.scope,
    });
  }

  #familyFor(form: URLSearchParams, client: string): Family | undefined {
    const grant = form.get("grant_type");
    if (grant === "client_credentials") return this.#newFamily(client, form);
    return grant === "refresh_token" ? this.#refresh(form, client) : this.#redeem(form, client);
  }

  #newFamily(client: string, form: URLSearchParams): Family {
    const resource = form.get("resource") ?? undefined;
    const lists = { spent: new Set<string>(), access: new Set<string>() };
    const family = {
      client,
      resource,
      scope: form.get("scope") ?? "read",
      refresh: "",
      ...lists,
      revoked: false,
    };
    this.#families.push(family);
    return family;
  }

  #clientOf(form: URLSearchParams, authorization: string | undefined): string | undefined {
    const [id = "", secret] = authorization?.startsWith("Basic ")
      ? Buffer.from(authorization.slice(6), "base64").toString().split(":").map(decodeURIComponent)
      : [form.get("client_id") ?? "", form.get("client_secret") ?? undefined];
    if (this.takesDocuments && id.startsWith("https://")) return id;
    const known = this.clients.get(id);
    return known && known.secret === secret ? id : undefined;
  }

  #redeem(form: URLSearchParams, client: string): Family | undefined {
    const code = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const valid =
      code?.client === client &&
      code.challenge === proof &&
      code.redirectUri === form.get("redirect_uri") &&
      code.resource === (form.get("resource") ?? undefined);
    if (!valid) return undefined;
    const { resource, scope } = code;
    const family = {
      client,
      resource,
      scope,
      refresh: "",
      spent: new Set<string>(),
      access: new Set<string>(),
      revoked: false,
    };
    this.#families.push(family);
    return family;
  }

  #refresh(form: URLSearchParams, client: string): Family | undefined {
    const token = form.get("refresh_token") ?? "";
    const reused = this.#families.find(({ spent }) => spent.has(token));
    if (reused) reused.revoked = true;
    const family = this.#families.find(
      (one) => one.refresh === token && one.client === client && !one.revoked,
    );
    family?.spent.add(token);
    return family;
  }

  #revoke(form: URLSearchParams, response: ServerResponse): void {
    const token = form.get("token") ?? "";
    for (const family of this.#families)
      if (family.refresh === token || family.access.has(token)) family.revoked = true;
    json(response, 200, {});
  }

  #secret(kind: string): string {
    const secret = `${kind}-${randomBytes(12).toString("hex")}`;
    this.secrets.add(secret);
    return secret;
  }
}

interface Registration {
  readonly redirect_uris: readonly string[];
  readonly token_endpoint_auth_method: string;
}

/** Call inside a test. The server ends with the test. */
export async function issuer(): Promise<Issuer> {
  let created: Issuer | undefined;
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part));
    request.on("end", () => created?.answer(request, body, response));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  created = new Issuer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return created;
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
