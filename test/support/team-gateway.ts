/**
 * The gateway of `metamcp serve` in the process of the test, its admin API, and official clients of its
 * endpoints. `team-process.ts` starts the built program, for tests of the process.
 */
import { Writable } from "node:stream";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { createLog } from "../../src/cli/log.ts";
import { openGateway } from "../../src/cli/open-gateway.ts";
import { takeSecrets } from "../../src/cli/own-secrets.ts";
import { greeting } from "../../src/cli/serve.ts";
import { flagsFor } from "../../src/config/flags.ts";
import { SERVE_FLAGS } from "../../src/config/gateway-flags.ts";
import { readSettings } from "../../src/config/settings.ts";
import { adminFetch } from "./admin-answers.ts";
import { atEnd } from "./shared.ts";
import type { Temp } from "./temp.ts";

export const ADMIN_TOKEN = "an-admin-token-for-tests-0123456789abcdef";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly body: any;
}

export interface TeamGateway {
  readonly url: string;
  /** What `metamcp serve` would have written to stderr. */
  readonly stderr: string;
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Creates an API key and returns its text. */
  key(endpoints?: readonly string[] | "all"): Promise<string>;
  /** Stops as at SIGTERM. */
  stop(): Promise<void>;
}

export interface TeamOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Relative paths in `flags` start from the folder of this process, and programs that the gateway runs itself,
 * such as bubblewrap, are looked for in the PATH of this process.
 */
export async function teamGateway(
  folder: Temp,
  { flags = [], env = {} }: TeamOptions = {},
): Promise<TeamGateway> {
  const inherited: NodeJS.ProcessEnv = teamEnvironment(folder, env);
  const own = takeSecrets(inherited, { ...flagsFor("serve"), ...SERVE_FLAGS });
  const given = readSettings(["--port", "0", ...flags], own, { command: "serve", own: SERVE_FLAGS });
  let stderr = "";
  const output = new Writable({
    write(chunk, _encoding, done) {
      stderr += chunk;
      done();
    },
  });
  const { logLevel: level, logFile: file } = given.settings;
  const log = createLog({ level, file, stderr: output });
  const { gateway } = await openGateway(given, { env: own, inherited, folder: folder.path("."), log });
  const stop = (): Promise<void> => gateway.close();
  atEnd(stop);
  const url = await gateway.listen();
  output.write(greeting(url, await gateway.setupLink()));
  return {
    url,
    get stderr() {
      return stderr;
    },
    ...adminOf(url),
    stop,
  };
}

export function teamEnvironment(folder: Temp, env: TeamOptions["env"]): Record<string, string> {
  return { ...folder.env, METAMCP_ADMIN_TOKEN: ADMIN_TOKEN, ...env };
}

export function adminOf(url: string): Pick<TeamGateway, "api" | "key"> {
  const api: TeamGateway["api"] = async (method, path, body) => {
    const response = await adminFetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    api,
    key: async (endpoints = "all") => (await api("POST", "/api-keys", { name: "a key", endpoints })).body.key,
  };
}

export const WAYS = ["streamable", "sse", "2026-07-28"] as const;
export type Way = (typeof WAYS)[number];

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: { progress: number; message?: string | undefined }) => void;
}

export interface TeamClient {
  readonly instructions: string | undefined;
  /** Number of tools/list_changed notifications. */
  readonly listChanges: number;
  tools(): Promise<string[]>;
  /** Returns the text blocks of the result, joined by line breaks. */
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<string>;
  close(): Promise<void>;
}

export async function teamClient(
  { url }: Pick<TeamGateway, "url">,
  endpoint: string,
  {
    key,
    way = "streamable",
    fetch: fetching = fetch,
  }: { key?: string; way?: Way; fetch?: typeof fetch } = {},
): Promise<TeamClient> {
  const headers: Record<string, string> = key === undefined ? {} : { "x-api-key": key };
  const at = new URL(`${url}/metamcp/${endpoint}/${way === "sse" ? "sse" : "mcp"}`);
  const info = { name: "team", version: "1.0.0" };
  let changes = 0;
  const common = (client: Client | ClientV2) => ({
    get listChanges() {
      return changes;
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}) {
      const params = { name, arguments: args };
      const { content } = (await (client instanceof Client
        ? client.callTool(params, undefined, options as never)
        : client.callTool(params, options as never))) as { content: { text?: string }[] };
      return content.map(({ text }) => text ?? "").join("\n");
    },
    close: () => client.close(),
  });
  if (way === "2026-07-28") {
    const client = new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StreamableV2(at, { requestInit: { headers }, fetch: fetching }));
    atEnd(() => client.close());
    return Object.assign(Object.create(common(client)), { instructions: client.getInstructions() });
  }
  const client = new Client(info);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  await client.connect(
    way === "sse"
      ? new SSEClientTransport(at, {
          requestInit: { headers },
          fetch: fetching,
          eventSourceInit: {
            fetch: (address, init) =>
              fetching(address, { ...init, headers: { ...init.headers, ...headers } }),
          },
        })
      : // The cast is needed because of exactOptionalPropertyTypes: the SDK type has an optional session id that may be undefined.
        (new StreamableHTTPClientTransport(at, { requestInit: { headers }, fetch: fetching }) as never),
  );
  atEnd(() => client.close());
  return Object.assign(Object.create(common(client)), { instructions: client.getInstructions() });
}
