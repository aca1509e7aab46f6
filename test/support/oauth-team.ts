/** A gateway with accounts, and official clients that log them in automatically. */
import {
  Client as ClientV2,
  type OAuthClientProvider as ProviderV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Browser } from "./browser.ts";
import { OAuthClient, type Tokens } from "./oauth-client.ts";
import { atEnd } from "./shared.ts";
import { type TeamGateway, teamGateway } from "./team-gateway.ts";
import { fixture, temp } from "./temp.ts";

export const PASSWORD = "correct horse battery";
export const ADA = { email: "ada@example.org", password: PASSWORD };
export const BOB = { email: "bob@example.org", password: PASSWORD };
type Person = typeof ADA;

export interface OAuthTeam {
  readonly gateway: TeamGateway;
  readonly url: string;
  readonly api: TeamGateway["api"];
  /** Uuids by email address. */
  readonly people: Readonly<Record<string, string>>;
}

/** Endpoints `one` and `two` for everybody, `closed` without OAuth, `ours` for Bob, `off` disabled. */
export async function oauthTeam(options: Parameters<typeof teamGateway>[1] = {}): Promise<OAuthTeam> {
  const gateway = await teamGateway(temp(), options);
  const { api } = gateway;
  await api("POST", "/mcp-servers", { name: "fix", ...fixture() });
  await api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  const endpoint = (name: string, more: object = {}) =>
    api("POST", "/endpoints", { name, namespaces: ["team"], surface: "aggregate", ...more });
  await endpoint("one");
  await endpoint("two");
  await endpoint("closed", { access: { oauth: false } });
  await endpoint("off", { disabled: true });
  const people: Record<string, string> = {};
  for (const { email, password } of [ADA, BOB]) {
    const { body } = await api("POST", "/users", { email, role: "member" });
    const code = new URL(body.invitation.url).pathname.split("/").at(-1) ?? "";
    const accepted = await api("POST", `/invitations/${code}`, { password });
    if (accepted.status >= 300) throw new Error(JSON.stringify(accepted));
    people[email] = body.uuid;
  }
  await endpoint("ours", { access: { allow: { users: [BOB.email] } } });
  return { gateway, url: gateway.url, api, people };
}

/** A client without an SDK that is registered and has tokens. */
export async function grantedClient(
  { url }: Pick<OAuthTeam, "url">,
  person: Person,
  options: { endpoint?: string; browser?: Browser; redirectUri?: string } = {},
): Promise<{ readonly client: OAuthClient; readonly tokens: Tokens }> {
  const client = new OAuthClient(url, options);
  await client.register();
  const back = await client.logIn(person);
  const { body, status } = await client.exchange(back.url.searchParams.get("code") ?? "");
  if (status !== 200) throw new Error(`${back.url} ${back.text} ${JSON.stringify(body)}`);
  return { client, tokens: body };
}

/** An OAuth provider for the SDKs that fills in the login forms when the SDK opens the browser. */
export class UnattendedLogin {
  readonly redirectUrl = "http://127.0.0.1:8765/callback";
  readonly #person: Person;
  readonly #stored = new Map<string, unknown>();
  /** URL of its metadata document. Without one it registers itself. */
  readonly clientMetadataUrl: string | undefined;
  back: URL | undefined;

  constructor(person: Person, clientMetadataUrl?: string) {
    this.#person = person;
    this.clientMetadataUrl = clientMetadataUrl;
  }

  get clientMetadata() {
    return {
      client_name: "Official client",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    };
  }

  // biome-ignore lint/suspicious/noExplicitAny: any value of either SDK
  #slot(name: string): { get: () => any; set: (value: unknown) => void } {
    return { get: () => this.#stored.get(name), set: (value) => void this.#stored.set(name, value) };
  }
  clientInformation = this.#slot("client").get;
  saveClientInformation = this.#slot("client").set;
  tokens = this.#slot("tokens").get;
  saveTokens = this.#slot("tokens").set;
  codeVerifier = this.#slot("verifier").get;
  saveCodeVerifier = this.#slot("verifier").set;

  async redirectToAuthorization(address: URL): Promise<void> {
    const browser = new Browser();
    let page = await browser.open(address);
    page = await browser.submit(page, this.#person);
    page = await browser.submit(page, { action: "allow" });
    this.back = page.url;
  }
}

export type OfficialClientKind = "v1" | "v1 sse" | "v2" | "v2 2026-07-28";

/** Connects an official client that knows only the URL, including its login. */
export async function officialClient(
  { url }: Pick<OAuthTeam, "url">,
  way: OfficialClientKind,
  person: Person,
) {
  const provider = new UnattendedLogin(person);
  const at = new URL(`${url}/metamcp/one/${way === "v1 sse" ? "sse" : "mcp"}`);
  const info = { name: "official", version: "1.0.0" };
  const open = () => {
    if (way.startsWith("v2"))
      return new StreamableV2(at, { authProvider: provider as unknown as ProviderV2 });
    const authProvider = provider as unknown as OAuthClientProvider;
    return way === "v1 sse"
      ? new SSEClientTransport(at, { authProvider })
      : new StreamableHTTPClientTransport(at, { authProvider });
  };
  const make = () => {
    if (!way.startsWith("v2")) return new Client(info);
    return new ClientV2(
      info,
      way === "v2" ? {} : { versionNegotiation: { mode: { pin: "2026-07-28" as const } } },
    );
  };
  const first = open();
  const refused = await make()
    .connect(first as never)
    .then(
      () => undefined,
      (error: Error) => error,
    );
  if (!refused || !provider.back) throw refused ?? new Error("it was let in without a login");
  const { searchParams } = provider.back;
  await first.finishAuth(searchParams.get("code") ?? "", searchParams.get("iss") ?? "");
  const client = make();
  await client.connect(open() as never);
  atEnd(() => client.close());
  return { client, provider, tools: async () => (await client.listTools()).tools.map(({ name }) => name) };
}
