/**
 * The registry of a gateway: its endpoints, and servers as packages, as an MCP registry (API v0.1), server
 * cards and a catalog. Without `settings.registry` there is nothing at its paths.
 */
import type { IncomingMessage } from "node:http";
import { credentialOf } from "../../access/credential.ts";
import { credentialKind, type RefusedCredentials } from "../../access/refused-credentials.ts";
import type { Compiled, CompiledEndpoint } from "../../gateway/compile.ts";
import {
  CARD_TYPE,
  catalogOf,
  type ListedAt,
  packageEntry,
  type RegistryEntry,
  registryEntry,
  serverCard,
} from "../../gateway/registry-entries.ts";
import { registryPage } from "../../gateway/registry-page.ts";
import type { Verdict } from "../../transport/http/guard.ts";
import { fail, type Received } from "../../transport/http/http-server.ts";
import type { InStep } from "../live/in-step.ts";

export interface RegistrySiteParts {
  readonly compiled: () => Compiled;
  /** The address of the gateway for clients. */
  readonly base: () => string;
  /** Whether the credential of a request opens an endpoint. */
  readonly judge: (request: IncomingMessage, endpoint: CompiledEndpoint) => Verdict | Promise<Verdict>;
  readonly refused: RefusedCredentials;
  readonly inStep: Pick<InStep, "catchUp"> | undefined;
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const LIST = "/v0.1/servers";
const VERSIONS = /^\/v0\.1\/servers\/([^/]+)\/versions(?:\/([^/]+))?$/;
const CARD = /^\/metamcp\/([^/]+)\/mcp\/server-card$/;
const CATALOG = "/.well-known/mcp/catalog.json";
const NOT_FOUND: Answer = { status: 404, body: { error: "Server not found" } };
const UNKNOWN: Answer = {
  status: 401,
  body: { error: "an API key or a token of an endpoint is required" },
  headers: { "www-authenticate": 'Bearer realm="metamcp"' },
};

export class RegistrySite {
  readonly #parts: RegistrySiteParts;

  constructor(parts: RegistrySiteParts) {
    this.#parts = parts;
  }

  /** Whether the path belongs to the registry, and there is one. */
  answers(path: string): boolean {
    if (this.#settings === undefined) return false;
    return path === LIST || path === CATALOG || VERSIONS.test(path) || CARD.test(path);
  }

  answer(path: string, { request, response }: Received): void {
    this.#answer(path, request).then(
      ({ status, body, type = "application/json", headers }) => {
        const shared = this.#settings?.public && status === 200;
        const caching = shared ? "public, max-age=300" : "no-store";
        response.writeHead(status, { "content-type": type, "cache-control": caching, ...headers });
        response.end(request.method === "HEAD" ? undefined : JSON.stringify(body));
      },
      () => fail(response),
    );
  }

  async #answer(path: string, request: IncomingMessage): Promise<Answer> {
    if (request.method !== "GET" && request.method !== "HEAD")
      return {
        status: 405,
        body: { error: "this registry can only be read" },
        headers: { allow: "GET, HEAD" },
      };
    const seen = await this.#seenBy(request);
    return "status" in seen ? seen : this.#found(path, request, seen);
  }

  #found(path: string, { url = "" }: IncomingMessage, seen: readonly RegistryEntry[]): Answer {
    const base = this.#parts.base();
    if (path === CATALOG) return { status: 200, body: catalogOf(seen, base) };
    const card = CARD.exec(path)?.[1];
    if (card !== undefined) {
      const entry = seen.find(({ server }) => server.remotes && server.title === card);
      return entry ? { status: 200, body: serverCard(entry), type: CARD_TYPE } : NOT_FOUND;
    }
    const [, name, version] = VERSIONS.exec(path) ?? [];
    if (name === undefined) {
      const list = registryPage(seen, new URL(url, base).searchParams);
      return typeof list === "string" ? { status: 400, body: { error: list } } : { status: 200, body: list };
    }
    const entry = seen.find(({ server }) => server.name === decoded(name));
    if (!entry) return NOT_FOUND;
    if (version === undefined) return { status: 200, body: { servers: [entry], metadata: { count: 1 } } };
    const wanted = decoded(version);
    return wanted === "latest" || wanted === entry.server.version ? { status: 200, body: entry } : NOT_FOUND;
  }

  /**
   * The entries that the caller may see: all of a public registry, else the endpoints that it may use, and
   * the packages if it may use one.
   */
  async #seenBy(request: IncomingMessage): Promise<readonly RegistryEntry[] | Answer> {
    const { refused, inStep } = this.#parts;
    if (this.#settings?.public)
      return [...this.#listed.map((endpoint) => this.#entryOf(endpoint)), ...this.#packages];
    const known = await this.#known(request);
    if (known) return known;
    // The key may have been made at another replica a moment ago.
    if (inStep) {
      await inStep.catchUp();
      const later = await this.#known(request);
      if (later) return later;
    }
    if (credentialOf(request) === undefined) return UNKNOWN;
    const wait = await refused.limitAtAll(request, { by: credentialKind(request) });
    if (wait === undefined) return UNKNOWN;
    const headers = { "retry-after": String(wait) };
    return { status: 429, body: { error: "too many wrong credentials: try again later" }, headers };
  }

  /** Undefined for a credential that no listed endpoint knows. */
  async #known(request: IncomingMessage): Promise<readonly RegistryEntry[] | undefined> {
    if (credentialOf(request) === undefined) return undefined;
    const listed = this.#listed;
    const verdicts = await Promise.all(
      listed.map(async (endpoint) => await this.#parts.judge(request, endpoint)),
    );
    // 404: a valid credential, but not for this endpoint.
    if (!verdicts.some((verdict) => verdict.ok || verdict.status === 404)) return undefined;
    const open = listed.filter(({ object }, at) => verdicts[at]?.ok || object.spec.access.public);
    const packages = verdicts.some(({ ok }) => ok) ? this.#packages : [];
    return [...open.map((endpoint) => this.#entryOf(endpoint)), ...packages];
  }

  get #settings() {
    return this.#parts.compiled().settings?.spec.registry;
  }

  /** The listed endpoints that are served. */
  get #listed(): readonly CompiledEndpoint[] {
    const listed = new Set(this.#settings?.endpoints);
    return [...this.#parts.compiled().paths.values()].filter(({ object }) => listed.has(object.uuid));
  }

  /** The listed servers that are served and that others can run as packages. */
  get #packages(): readonly RegistryEntry[] {
    const { servers } = this.#parts.compiled();
    return (this.#settings?.servers ?? []).flatMap((uuid) => {
      const server = servers.get(uuid);
      return (server && !server.disabled ? packageEntry(server.object, this.#at) : undefined) ?? [];
    });
  }

  #entryOf({ object }: CompiledEndpoint): RegistryEntry {
    return registryEntry(object, this.#at);
  }

  get #at(): ListedAt {
    return { base: this.#parts.base(), listedAt: this.#parts.compiled().settings?.updatedAt ?? "" };
  }
}

/** A text that is not valid percent encoding names nothing. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
