/**
 * Several replicas of the built gateway on one Postgres schema, and clients that go to the replica that a
 * test names.
 */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { HEADERS, messages } from "./http-gateway.ts";
import { Journal } from "./journal.ts";
import { startReplica } from "./replicas.ts";
import { atEnd } from "./shared.ts";
import type { TeamProcess } from "./team-process.ts";
import { fixture, temp } from "./temp.ts";
import { postgresDatabase, type TestDatabase } from "./test-databases.ts";
import { until } from "./until.ts";

const REPLICA_FLAGS = ["--replica-address", "127.0.0.1:0"];
/** Without a pause for load balancers, so that tests end soon. */
const NO_PAUSE = ["--drain", "0"];

export interface Team {
  readonly database: TestDatabase;
  readonly replicas: readonly TeamProcess[];
  /** The journal of the server behind them. */
  readonly journal: Journal;
  readonly key: string;
  /** Starts one more replica. */
  start(flags?: readonly string[], env?: Readonly<Record<string, string>>): Promise<TeamProcess>;
}

export interface TeamOptions {
  /** Default: a new one. */
  readonly database?: TestDatabase;
  /** Flags of the server behind them. */
  readonly server?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Replicas with the endpoint `team`: the fixture, on the surface with its own tools. */
export async function replicas(
  count: number,
  flags: readonly string[] = NO_PAUSE,
  { database: given, server = [], env = {} }: TeamOptions = {},
): Promise<Team> {
  const database = given ?? (await postgresDatabase());
  const journal = new Journal(temp().path("journal.jsonl"));
  const start = (own = flags, ownEnv = env): Promise<TeamProcess> =>
    startReplica(database, { flags: [...REPLICA_FLAGS, ...own], env: ownEnv });
  const all = [await start()];
  const [first] = all as [TeamProcess];
  await first.api("POST", "/mcp-servers", { name: "fix", ...fixture("--journal", journal.file, ...server) });
  await first.api("POST", "/namespaces", { name: "team", servers: [{ server: "fix" }] });
  await first.api("POST", "/endpoints", { name: "team", namespaces: ["team"], surface: "aggregate" });
  const key = await first.key();
  while (all.length < count) all.push(await start());
  return { database, replicas: all, journal, key, start };
}

/** The replica that the next requests of a client go to. */
export interface Route {
  at: TeamProcess;
}

type Sdk = "SDK v1" | "SDK v2";

export interface RoutedClient {
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  tools(): Promise<string[]>;
}

/** An official client with a session, whose requests go where the route says. */
export async function routedClient(sdk: Sdk, route: Route, key: string): Promise<RoutedClient> {
  const base = route.at.url;
  const url = new URL(`${base}/metamcp/team/mcp`);
  const routed = (address: string | URL, init?: RequestInit): Promise<Response> =>
    fetch(String(address).replace(base, route.at.url), init);
  const options = { fetch: routed, requestInit: { headers: { "x-api-key": key } } };
  const info = { name: "routed", version: "1.0.0" };
  const client = sdk === "SDK v1" ? new Client(info) : new ClientV2(info);
  await (client instanceof Client
    ? client.connect(new StreamableHTTPClientTransport(url, options) as never)
    : client.connect(new StreamableV2(url, options)));
  atEnd(() => client.close());
  return {
    async call(name, args = {}) {
      const { content } = (await client.callTool({ name, arguments: args })) as {
        content: { text?: string }[];
      };
      return content.map(({ text }) => text ?? "").join("\n");
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}

/** A client without an SDK. */
export class RawSession {
  readonly #key: string;
  readonly #endpoint: string;
  id = "";
  #requests = 0;

  constructor(key: string, endpoint = "team") {
    this.#key = key;
    this.#endpoint = endpoint;
  }

  /** The id of the last request. */
  get lastRequest(): number {
    return this.#requests;
  }

  get headers(): Record<string, string> {
    return { ...HEADERS, "x-api-key": this.#key, ...(this.id === "" ? {} : { "mcp-session-id": this.id }) };
  }

  fetch({ url }: TeamProcess, init: RequestInit = {}): Promise<Response> {
    return fetch(`${url}/metamcp/${this.#endpoint}/mcp`, {
      ...init,
      headers: { ...this.headers, ...init.headers } as never,
    });
  }

  post(at: TeamProcess, message: object, init: RequestInit = {}): Promise<Response> {
    return this.fetch(at, { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", ...message }), ...init });
  }

  request(at: TeamProcess, method: string, params: object = {}): Promise<Response> {
    return this.post(at, { id: ++this.#requests, method, params });
  }

  /** Sends a request whose answer may be a stream. */
  async stream(at: TeamProcess, method: string, params: object = {}): Promise<Stream> {
    const stopping = new AbortController();
    const message = { id: ++this.#requests, method, params };
    return new Stream(await this.post(at, message, { signal: stopping.signal }), stopping);
  }

  /** Opens the standalone stream, or resumes a stream after this event. */
  async listen(at: TeamProcess, after?: string): Promise<Stream> {
    const stopping = new AbortController();
    const headers = after === undefined ? {} : { "last-event-id": after };
    return new Stream(await this.fetch(at, { headers, signal: stopping.signal }), stopping);
  }

  async open(at: TeamProcess, capabilities: object = {}): Promise<this> {
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
    const answer = await until(async () => {
      const response = await this.request(at, "initialize", params);
      if (response.ok) return response;
      await response.text();
      return undefined;
    });
    this.id = answer.headers.get("mcp-session-id") ?? "";
    await answer.text();
    await (await this.post(at, { method: "notifications/initialized" })).text();
    return this;
  }

  /** Returns the text of the result, or the error. */
  async call(at: TeamProcess, name: string, args: object = {}): Promise<string> {
    const response = await this.request(at, "tools/call", { name, arguments: args });
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field
    const answer = (await messages(response)).at(-1) as any;
    return answer?.result?.content?.[0]?.text ?? JSON.stringify(answer);
  }
}

/** Messages of an event stream as they arrive. */
export class Stream {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly messages: any[] = [];
  /** The last event id. */
  last = "";
  ended = false;
  readonly #stopping: AbortController;

  constructor(response: Response, stopping: AbortController) {
    this.status = response.status;
    this.#stopping = stopping;
    atEnd(() => stopping.abort());
    void this.#read(response).finally(() => {
      this.ended = true;
    });
  }

  close(): void {
    this.#stopping.abort();
  }

  /** Waits for a message with this method or, without one, for an answer. */
  next(method?: string) {
    return until(() => this.messages.find((message) => message.method === method), {
      what: method ?? "an answer",
    });
  }

  async #read(response: Response): Promise<void> {
    let text = "";
    try {
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          this.last = /^id: (.*)$/m.exec(block)?.[1] ?? this.last;
          const [, data = ""] = /^data: (.+)$/m.exec(block) ?? [];
          if (data !== "") this.messages.push(JSON.parse(data));
        }
      }
    } catch {
      // The stream was aborted, or its replica died.
    }
  }
}
