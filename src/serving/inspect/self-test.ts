/** Tests an endpoint over real HTTP as a client would, step by step, and reports which step fails and why. */
import type { TemporaryKeys } from "../../access/temporary-keys.ts";
import type { CompiledEndpoint } from "../../gateway/compile.ts";
import type { SelfTest, SelfTestStep } from "../../gateway/inspector-control.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { Principal } from "../../kernel/principal.ts";
import { IMPLEMENTATION } from "../../kernel/version.ts";

export interface SelfTestParts {
  /** The URL of the gateway for clients. */
  readonly url: string;
  readonly temporaryKeys: TemporaryKeys;
  /** Ends the sessions of the test client. */
  readonly endOf: (principal: Principal) => void;
  /** Unreachable servers of the endpoint, with the reason. */
  readonly down: (endpoint: CompiledEndpoint) => readonly string[];
}

const TIMEOUT_MS = 15_000;
const VERSION = "2025-11-25";
const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: IMPLEMENTATION },
};
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list" };

export async function selfTest(endpoint: CompiledEndpoint, parts: SelfTestParts): Promise<SelfTest> {
  const { uuid, name } = endpoint.object;
  const url = `${parts.url}/metamcp/${name}/mcp`;
  const temporaryKey = parts.temporaryKeys.issue(uuid, "self-test");
  const client = new TestClient(endpoint, url, temporaryKey.text);
  const steps: SelfTestStep[] = [];
  try {
    for (const [step, run] of client.steps(parts)) {
      const failed = steps.some(({ ok }) => !ok);
      steps.push(
        failed ? { step, ok: false, detail: "not tried: a step before failed" } : await timed(step, run),
      );
    }
  } finally {
    temporaryKey.end();
    parts.endOf(temporaryKey.principal);
  }
  return { ok: steps.every(({ ok }) => ok), url, steps };
}

/** Resolves with the finding, rejects with the problem. */
type StepRun = () => Promise<string>;

async function timed(step: string, run: StepRun): Promise<SelfTestStep> {
  const begun = performance.now();
  const told = await run().then(
    (detail) => ({ ok: true, detail }),
    (error: unknown) => ({ ok: false, detail: reasonOf(error) }),
  );
  return { step, ...told, ms: Math.round(performance.now() - begun) };
}

class TestClient {
  readonly #endpoint: CompiledEndpoint;
  readonly #url: string;
  readonly #key: string;
  #metadata: string | undefined;
  #session: Readonly<Record<string, string>> = {};

  constructor(endpoint: CompiledEndpoint, url: string, key: string) {
    this.#endpoint = endpoint;
    this.#url = url;
    this.#key = key;
  }

  steps(parts: SelfTestParts): readonly (readonly [string, StepRun])[] {
    const { access } = this.#endpoint.object.spec;
    const login: readonly (readonly [string, StepRun])[] =
      access.oauth && !access.public ? [["login metadata", () => this.#login()]] : [];
    return [
      ["discovery", () => this.#discover()],
      ...login,
      ["initialize", () => this.#initialize()],
      ["list", () => this.#list(parts)],
    ];
  }

  /** A request without credentials must be accepted, or answered with where to get some. */
  async #discover(): Promise<string> {
    const { disabled, access } = this.#endpoint.object.spec;
    if (disabled) throw new Error("the endpoint is disabled: nobody can reach it");
    const answer = await this.#post(INITIALIZE);
    await endSession(this.#url, answer);
    if (access.public) {
      if (answer.status === 200) return "open to everyone, no credentials needed";
      throw unexpected(answer, "it is public, but was not let in");
    }
    if (answer.status !== 401) throw unexpected(answer, "a stranger should be refused with 401");
    const challenge = answer.headers.get("www-authenticate") ?? "";
    if (!/^Bearer\b/i.test(challenge))
      throw new Error(
        "the refusal has no WWW-Authenticate header with Bearer: a proxy may have taken it out",
      );
    this.#metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
    return "strangers are refused and told how to authenticate";
  }

  async #login(): Promise<string> {
    if (this.#metadata === undefined)
      throw new Error("the refusal names no resource_metadata: clients cannot find where to log in");
    const resource = await fetchJson(this.#metadata);
    if (resource["resource"] !== this.#url)
      throw new Error(
        `the metadata are of ${String(resource["resource"])}, not of ${this.#url}: --public-url must be how clients reach it`,
      );
    const [issuer] = (resource["authorization_servers"] ?? []) as readonly unknown[];
    if (typeof issuer !== "string") throw new Error("the metadata name no authorization server");
    const place = new URL("/.well-known/oauth-authorization-server", issuer).href;
    const server = await fetchJson(place);
    const missing = ["authorization_endpoint", "token_endpoint"].filter(
      (key) => typeof server[key] !== "string",
    );
    if (missing.length > 0) throw new Error(`${place} lacks ${missing.join(", ")}`);
    return `clients log in at ${issuer}`;
  }

  async #initialize(): Promise<string> {
    const answer = await this.#post(INITIALIZE, this.#credentials());
    if (answer.status !== 200) throw unexpected(answer, "initialize was refused");
    const { serverInfo } = resultIn(answer.text);
    const id = answer.headers.get("mcp-session-id");
    const version = { "mcp-protocol-version": VERSION };
    this.#session = { ...this.#credentials(), ...version, ...(id === null ? {} : { "mcp-session-id": id }) };
    if (id !== null) await this.#post(INITIALIZED, this.#session);
    const { name = "?" } = isRecord(serverInfo) ? serverInfo : {};
    return `${String(name)} answered${id === null ? ", without sessions" : ""}`;
  }

  async #list({ down }: SelfTestParts): Promise<string> {
    let count = 0;
    let cursor: unknown;
    do {
      const page = await this.#listPage(cursor);
      count += page.tools.length;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const unreachable = down(this.#endpoint);
    if (unreachable.length > 0) throw new Error(`servers cannot be reached: ${unreachable.join(" ")}`);
    return count === 1 ? "1 tool" : `${count} tools`;
  }

  async #listPage(
    cursor: unknown,
  ): Promise<{ readonly tools: readonly unknown[]; readonly nextCursor?: unknown }> {
    const answer = await this.#post(
      { ...LIST, ...(cursor === undefined ? {} : { params: { cursor } }) },
      this.#session,
    );
    if (answer.status !== 200) throw unexpected(answer, "tools/list was refused");
    const { tools, nextCursor } = resultIn(answer.text);
    if (!Array.isArray(tools)) throw new Error("tools/list gave no list");
    return { tools, nextCursor };
  }

  #credentials(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#key}` };
  }

  async #post(message: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: { ...HEADERS, ...headers },
      body: JSON.stringify(message),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function endSession(url: string, { headers }: Answer): Promise<void> {
  const id = headers.get("mcp-session-id");
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  if (id !== null) await fetch(url, { method: "DELETE", headers: { "mcp-session-id": id }, signal });
}

async function fetchJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
  const value = JSON.parse(text) as unknown;
  if (!isRecord(value)) throw new Error(`${url} is no JSON object`);
  return value;
}

const LONGEST_TEXT = 200;

function unexpected({ status, text }: Answer, what: string): Error {
  return new Error(`${what}: ${status} ${text.slice(0, LONGEST_TEXT)}`);
}

/** The result in a JSON answer, or in the last event of a stream. */
function resultIn(text: string): Readonly<Record<string, unknown>> {
  const data = text.startsWith("{")
    ? text
    : (text.split(/\r?\n/).findLast((line) => line.startsWith("data: {")) ?? "");
  const { result, error } = JSON.parse(data.replace(/^data: /, "")) as Readonly<Record<string, unknown>>;
  if (isRecord(result)) return result;
  throw new Error(`the answer is an error: ${JSON.stringify(error).slice(0, LONGEST_TEXT)}`);
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
