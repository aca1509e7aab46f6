/** An OAuth client that takes each step separately; official clients do them in one call. */
import { createHash, randomBytes } from "node:crypto";
import { Browser, type Page } from "./browser.ts";

export const CALLBACK = "https://client.test/callback";

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface Answer<T> {
  readonly status: number;
  readonly body: T & { readonly error?: string; readonly error_description?: string };
  readonly headers: Headers;
}

export interface Registered {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly redirect_uris: readonly string[];
}

export class OAuthClient {
  readonly url: string;
  readonly verifier = randomBytes(32).toString("base64url");
  readonly browser: Browser;
  id = "";
  redirectUri: string;
  resource: string;

  constructor(url: string, { redirectUri = CALLBACK, endpoint = "one", browser = new Browser() } = {}) {
    this.url = url;
    this.redirectUri = redirectUri;
    this.resource = `${url}/metamcp/${endpoint}/mcp`;
    this.browser = browser;
  }

  async register(more: object = {}): Promise<Answer<Registered>> {
    const answer = await this.#json<Registered>("/register", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_name: "Test client",
        redirect_uris: [this.redirectUri],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        ...more,
      }),
    });
    this.id = answer.body.client_id ?? "";
    return answer;
  }

  get challenge(): string {
    return createHash("sha256").update(this.verifier).digest("base64url");
  }

  /** A parameter that is `undefined` is omitted. */
  authorizeUrl(more: Readonly<Record<string, string | undefined>> = {}): string {
    const params = {
      response_type: "code",
      client_id: this.id,
      redirect_uri: this.redirectUri,
      resource: this.resource,
      scope: "mcp",
      state: "a-state",
      code_challenge: this.challenge,
      code_challenge_method: "S256",
      ...more,
    };
    const present = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return `${this.url}/authorize?${new URLSearchParams(present)}`;
  }

  /** Fills in the login and consent pages, up to the redirect to the client. */
  async logIn(
    { email, password }: { readonly email: string; readonly password: string },
    more: Readonly<Record<string, string | undefined>> = {},
  ): Promise<Page> {
    let page = await this.browser.open(this.authorizeUrl(more));
    if (page.text.includes('name="password"')) page = await this.browser.submit(page, { email, password });
    if (page.text.includes('value="allow"')) page = await this.browser.submit(page, { action: "allow" });
    return page;
  }

  async exchange(code: string, more: Readonly<Record<string, string>> = {}): Promise<Answer<Tokens>> {
    return await this.token({
      grant_type: "authorization_code",
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      resource: this.resource,
      ...more,
    });
  }

  async refresh(refresh_token: string): Promise<Answer<Tokens>> {
    return await this.token({ grant_type: "refresh_token", refresh_token, resource: this.resource });
  }

  async token(params: Readonly<Record<string, string>>): Promise<Answer<Tokens>> {
    return await this.#json<Tokens>("/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: this.id, ...params }).toString(),
    });
  }

  async #json<T>(path: string, init: RequestInit): Promise<Answer<T>> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === "" ? {} : JSON.parse(text)) as Answer<T>["body"],
    };
  }
}
