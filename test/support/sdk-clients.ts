/** One interface for the official clients of all SDKs and eras, for the end-to-end matrix. */
import { join } from "node:path";
import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as StreamableV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { httpGateway } from "./http-gateway.ts";
import { atEnd } from "./shared.ts";
import { ROOT, type Temp } from "./temp.ts";

export const SDKS = ["SDK v1", "SDK v2", "SDK v2, stateless era"] as const;
export type Sdk = (typeof SDKS)[number];
export const FRONTS = ["stdio", "streamable", "streamable --stateless", "sse"] as const;
export type Front = (typeof FRONTS)[number];

type Json = Record<string, unknown>;
/** A tool result as the SDK returns it. */
export interface ToolResult {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number }) => void;
}
interface Text {
  readonly text?: string;
}

export interface SdkClient {
  readonly logged: unknown[];
  /** Turns on log messages of servers: for the session, or with each call if there are no sessions. */
  wantLogs(): Promise<void>;
  tools(): Promise<string[]>;
  call(name: string, args?: Json, calling?: CallOptions): Promise<ToolResult>;
  resources(): Promise<{ name: string; uri: string }[]>;
  templates(): Promise<{ name: string; uriTemplate: string }[]>;
  read(uri: string): Promise<Text[]>;
  prompts(): Promise<string[]>;
  prompt(name: string, args?: Record<string, string>): Promise<{ content: Text }[]>;
  complete(prompt: string, argument: { name: string; value: string }): Promise<string[]>;
  close(): Promise<unknown>;
}

const info = { name: "matrix", version: "1.0.0" };
const capabilities = { elicitation: {}, sampling: {}, roots: {} };
export const PERSON = { action: "accept" as const, content: { username: "ada", email: "ada@example.org" } };
export const MODEL = {
  model: "none",
  role: "assistant" as const,
  content: { type: "text" as const, text: "forty-two" },
};
export const ROOTS = { roots: [{ uri: "file:///matrix", name: "the root" }] };

const LOG_LEVEL = "io.modelcontextprotocol/logLevel";

/** The methods that both SDKs share. */
interface Common {
  connect(transport: never): Promise<void>;
  setLoggingLevel(level: "debug"): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: { name: string; uri: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { name: string; uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: Text[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: object): Promise<unknown>;
  complete(params: object): Promise<unknown>;
  close(): Promise<void>;
}

interface SdkCaller {
  readonly client: Common;
  call(params: Json, calling: CallOptions): Promise<unknown>;
}

function makeV1(logged: unknown[]): SdkCaller {
  const client = new ClientV1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => PERSON);
  client.setRequestHandler(CreateMessageRequestSchema, () => MODEL);
  client.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void logged.push(params.data),
  );
  return {
    client: client as unknown as Common,
    call: (params, calling) => client.callTool(params as { name: string }, undefined, calling),
  };
}

function makeV2(logged: unknown[], stateless: boolean): SdkCaller {
  const client = new ClientV2(info, {
    capabilities,
    versionNegotiation: { mode: stateless ? { pin: "2026-07-28" } : "legacy" },
  });
  client.setRequestHandler("elicitation/create", () => PERSON);
  client.setRequestHandler("sampling/createMessage", () => MODEL);
  client.setRequestHandler("roots/list", () => ROOTS);
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push(params.data));
  return {
    client: client as unknown as Common,
    call: (params, calling) => client.callTool(params as { name: string }, calling),
  };
}

const MAKE: Readonly<Record<Sdk, (logged: unknown[]) => SdkCaller>> = {
  "SDK v1": makeV1,
  "SDK v2": (logged) => makeV2(logged, false),
  "SDK v2, stateless era": (logged) => makeV2(logged, true),
};

/** Starts MetaMCP with this transport and connects a client of this SDK. Both end with the test. */
export async function connect(
  sdk: Sdk,
  front: Front,
  folder: Temp,
  surface = "aggregate",
): Promise<SdkClient> {
  const logged: unknown[] = [];
  const { client, call } = MAKE[sdk](logged);
  const stateless = sdk === "SDK v2, stateless era";
  const { transport, stop } = await openTransport(front, folder, { v1: sdk === "SDK v1", surface });
  await client.connect(transport as never);
  atEnd(() => client.close());
  let meta: Json | undefined;
  return {
    logged,
    async wantLogs() {
      if (stateless) meta = { [LOG_LEVEL]: "debug" };
      else await client.setLoggingLevel("debug");
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, calling = {}) =>
      (await call({ name, arguments: args, ...(meta && { _meta: meta }) }, calling)) as ToolResult,
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    async prompt(name, args) {
      const got = await client.getPrompt({ name, ...(args && { arguments: args }) });
      return (got as { messages: { content: Text }[] }).messages;
    },
    async complete(prompt, argument) {
      const got = await client.complete({ ref: { type: "ref/prompt", name: prompt }, argument });
      return (got as { completion: { values: string[] } }).completion.values;
    },
    async close() {
      await client.close();
      await stop();
    },
  };
}

async function openTransport(
  front: Front,
  folder: Temp,
  { v1, surface }: { v1: boolean; surface: string },
): Promise<{ transport: unknown; stop(): Promise<unknown> }> {
  const flags = ["--surface", surface];
  if (front === "stdio") {
    const program = {
      command: process.execPath,
      args: [join(ROOT, "dist/metamcp.js"), "--config", folder.config, "--log-level", "error", ...flags],
      env: { ...folder.env },
      stderr: "ignore" as const,
    };
    const transport = v1 ? new StdioV1(program) : new StdioV2(program);
    return { transport, stop: () => Promise.resolve() };
  }
  const transportFlags = {
    streamable: [],
    "streamable --stateless": ["--stateless"],
    sse: ["--transport", "sse"],
  };
  const gateway = await httpGateway(folder, ...flags, ...transportFlags[front]);
  const url = new URL(gateway.url);
  const stop = (): Promise<unknown> => gateway.stop();
  if (front === "sse") return { transport: v1 ? new SseV1(url) : new SseV2(url), stop };
  return { transport: v1 ? new StreamableV1(url) : new StreamableV2(url), stop };
}
