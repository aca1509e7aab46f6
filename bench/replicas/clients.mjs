// Clients of both eras with one interface: official SDKs and plain requests, with a key or an OAuth token.
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ask, openSession } from "../overhead/http/load.mjs";

export const KINDS = ["SDK v1", "SDK v2", "SDK v2, 2026-07-28", "plain", "plain, 2026-07-28"];
/** Longer than a run waits for an answer, so that a time-out of the SDK does not pass for one. */
const NEVER_MS = 3_600_000;
const META = "io.modelcontextprotocol/";
const ENVELOPE = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} };

/** How each surface calls a tool of the server `journal`. */
const CALLS = {
  aggregate: (tool, args) => ({ name: `journal__${tool}`, arguments: args }),
  meta: (tool, args) => ({ name: "mcp_call", arguments: { server: "journal", tool, args } }),
  metatools: (tool, args) => ({ name: "run_tool", arguments: { tool_id: `journal:${tool}`, args } }),
  // Two tools are few enough to list them all.
  auto: (tool, args) => CALLS.aggregate(tool, args),
};

export class BenchClient {
  #connected;
  #call;
  /** Rejects the call with this key. */
  #broken = new Map();
  /** Why a request was answered as if there were no such session. */
  lost;

  constructor({ kind, surface, endpoint = surface, url, headers }) {
    Object.assign(this, { kind, surface, headers, url: `${url}/metamcp/${endpoint}/mcp` });
  }

  get stateless() {
    return this.kind.endsWith("2026-07-28");
  }

  async connect() {
    this.#call = this.kind.startsWith("SDK") ? await this.#sdk() : await this.#plain();
    return this;
  }

  /** Resolves if the call was made; rejects with the error that the client got. */
  async call(tool, args) {
    const broken = new Promise((_, reject) => this.#broken.set(args.key, reject));
    const params = CALLS[this.surface](tool, args);
    const result = await Promise.race([this.#call(params), broken]).finally(() =>
      this.#broken.delete(args.key),
    );
    const text = JSON.stringify(result) ?? "";
    if (result?.isError || !text.includes(`done ${args.key}`)) throw new Error(text.slice(0, 300));
  }

  async close() {
    await this.#connected?.close().catch(() => {});
  }

  /**
   * Notes answers that end a session, and connections that break under an answer. A client of 2026-07-28
   * cannot resume its stream, and its SDK waits on: the broken connection is the error that it got.
   */
  #fetch = async (address, init) => {
    const response = await fetch(address, init);
    if (!this.stateless && [400, 404].includes(response.status)) {
      const text = await response.clone().text();
      this.lost = `HTTP ${response.status} ${text.slice(0, 200)}`;
    }
    if (!this.stateless || !response.body) return response;
    const { readable, writable } = new TransformStream();
    const [, key] = /"key":"([^"]+)"/.exec(init?.body ?? "") ?? [];
    response.body.pipeTo(writable).catch((error) => this.#broken.get(key)?.(error));
    return new Response(readable, { status: response.status, headers: response.headers });
  };

  async #sdk() {
    const info = { name: "bench", version: "1" };
    const options = { fetch: this.#fetch, requestInit: { headers: this.headers } };
    const at = new URL(this.url);
    const client =
      this.kind === "SDK v1"
        ? new ClientV1(info)
        : new ClientV2(info, {
            versionNegotiation: { mode: this.stateless ? { pin: "2026-07-28" } : "legacy" },
          });
    this.#connected = client;
    const v1 = this.kind === "SDK v1";
    await client.connect(v1 ? new StreamableV1(at, options) : new StreamableV2(at, options));
    if (v1) return (params) => client.callTool(params, undefined, { timeout: NEVER_MS });
    return (params) => client.callTool(params, { timeout: NEVER_MS });
  }

  async #plain() {
    let headers = this.headers;
    let id = 1;
    if (!this.stateless) headers = await openSession(this.url, this.headers);
    return async (params) => {
      const more = this.stateless
        ? { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": params.name }
        : {};
      const whole = this.stateless ? { ...params, _meta: ENVELOPE } : params;
      const message = { id: ++id, method: "tools/call", params: whole };
      const { answer } = await ask(this.url, message, { ...headers, ...more }).catch((error) => {
        if (!this.stateless && /^HTTP 40[04]/.test(error.message)) this.lost = error.message;
        throw error;
      });
      if (!answer?.result) throw new Error(JSON.stringify(answer ?? "no answer").slice(0, 300));
      return answer.result;
    };
  }
}
