/**
 * One interface for clients of both eras over stdio and HTTP: sends a request, answers questions on the way,
 * and returns the result.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gateway } from "./gateway.ts";
import { type HttpGateway, httpGateway, messages } from "./http-gateway.ts";
import type { RawClient } from "./raw-client.ts";
import { atEnd } from "./shared.ts";
import type { Temp } from "./temp.ts";

const KEY = "io.modelcontextprotocol/";
export const ERA_2026_CHILD = fileURLToPath(new URL("../fixture/era-2026-child.mjs", import.meta.url));

type Json = Record<string, unknown>;
export interface Question {
  readonly method: string;
  readonly params?: Json;
}
/** Returns the answer to a question. Undefined refuses it. */
export type Answerer = (question: Question) => Json | undefined;

export interface RequestResult {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly notifications: readonly { readonly method: string; readonly params: Json }[];
  readonly status?: number;
}

export interface Driver {
  /** Sends one request, answers its questions, and returns its result. */
  request(method: string, params: Json, answer?: Answerer): Promise<RequestResult>;
  close(): Promise<unknown>;
}

/** Calls a child's tool through the meta surface. */
export function call(
  driver: Driver,
  server: string,
  tool: string,
  { args = {}, answer, _meta }: { args?: Json; answer?: Answerer; _meta?: Json } = {},
): Promise<RequestResult> {
  const params = { name: "mcp_call", arguments: { server, tool, args }, ...(_meta && { _meta }) };
  return driver.request("tools/call", params, answer);
}

export function envelope(capabilities: Json, more: Json = {}): Json {
  return { [`${KEY}protocolVersion`]: "2026-07-28", [`${KEY}clientCapabilities`]: capabilities, ...more };
}

export function era2026Headers(method: string, params: Json): Record<string, string> {
  const name = params["name"] ?? params["uri"] ?? params["taskId"];
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
}

/** Repeats the request with the requested inputs until there is a result. */
async function repeatUntilAnswered(
  params: Json,
  answer: Answerer,
  send: (params: Json) => Promise<RequestResult>,
): Promise<RequestResult> {
  let current = await send(params);
  while (current.result?.["resultType"] === "input_required") {
    const asked = (current.result["inputRequests"] ?? {}) as Record<string, Question>;
    const inputResponses = Object.fromEntries(
      Object.entries(asked).map(([name, question]) => [name, answer(question)]),
    );
    current = await send({ ...params, inputResponses, requestState: current.result["requestState"] });
  }
  return current;
}

const refuseAll: Answerer = () => undefined;

function reply(answer: Json | undefined): { result: Json } | { error: Json } {
  return answer ? { result: answer } : { error: { code: -32601, message: "nobody answers here" } };
}

export async function open(
  kind: ClientKind,
  folder: Temp,
  capabilities: Json = {},
  flags: readonly string[] = [],
): Promise<Driver> {
  if (kind === "legacy stdio") return await legacyStdio(gateway(folder, { flags }), capabilities);
  if (kind === "2026 stdio") return era2026Stdio(gateway(folder, { flags }), capabilities);
  const server = await httpGateway(folder, ...flags);
  return kind === "legacy http" ? await legacyHttp(server, capabilities) : era2026Http(server, capabilities);
}

export const CLIENTS = ["legacy stdio", "2026 stdio", "legacy http", "2026 http"] as const;
export type ClientKind = (typeof CLIENTS)[number];

async function legacyStdio(client: RawClient, capabilities: Json): Promise<Driver> {
  await client.initialize(capabilities);
  return {
    async request(method, params, answer = refuseAll) {
      client.reply = ({ method: asked, params: about }) =>
        reply(answer({ method: asked, ...(about && { params: about }) }));
      return await requestOnStdio(client, method, params);
    },
    close: () => client.close(),
  };
}

export function era2026Stdio(client: RawClient, capabilities: Json): Driver {
  return {
    request: (method, params, answer = refuseAll) =>
      repeatUntilAnswered(params, answer, (now) =>
        requestOnStdio(client, method, { ...now, _meta: envelope(capabilities, params["_meta"] as Json) }),
      ),
    async close() {
      if (client.requests.length > 0) throw new Error("a client of this era must not be asked anything");
      return await client.close();
    },
  };
}

async function requestOnStdio(client: RawClient, method: string, params: Json): Promise<RequestResult> {
  const before = client.notifications.length;
  const { result, error } = await client.request(method, params);
  const notifications = client.notifications.slice(before) as unknown as RequestResult["notifications"];
  return { ...(result && { result }), ...(error && { error }), notifications };
}

export async function legacyHttp(server: HttpGateway, capabilities: Json): Promise<Driver> {
  const session = await server.open(capabilities);
  let id = 0;
  return {
    async request(method, params, answer = refuseAll) {
      const response = await server.post({ id: ++id, method, params }, session);
      const received: Json[] = [];
      await eachMessage(response, async (message) => {
        received.push(message);
        if (message["id"] === undefined || message["method"] === undefined) return;
        const answered = reply(answer(message as unknown as Question));
        await (await server.post({ id: message["id"], ...answered }, session)).text();
      });
      return responseFrom(received, response.status);
    },
    close: () => server.stop(),
  };
}

export function era2026Http(server: HttpGateway, capabilities: Json): Driver {
  let id = 0;
  const send = async (method: string, params: Json): Promise<RequestResult> => {
    const response = await server.post({ id: ++id, method, params }, era2026Headers(method, params));
    return responseFrom(await messages(response), response.status);
  };
  return {
    request: (method, params, answer = refuseAll) =>
      repeatUntilAnswered(params, answer, (now) =>
        send(method, { ...now, _meta: envelope(capabilities, params["_meta"] as Json) }),
      ),
    close: () => server.stop(),
  };
}

function responseFrom(received: readonly Json[], status: number): RequestResult {
  const last = received.find((message) => "result" in message || "error" in message) ?? {};
  const notifications = received.filter((message) => message["method"] && message["id"] === undefined);
  return {
    ...(last as Pick<RequestResult, "result" | "error">),
    notifications: notifications as unknown as RequestResult["notifications"],
    status,
  };
}

/** Calls `take` for each message as it arrives, because later messages may depend on its answer. */
export async function eachMessage(
  response: Response,
  take: (message: Json) => Promise<void> | void,
): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of response.body ?? []) {
    text += decoder.decode(part as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const data = /^data: (\{.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data) await take(JSON.parse(data) as Json);
    }
  }
  if (text.startsWith("{")) await take(JSON.parse(text) as Json);
}

/** Starts a child of era 2026 over HTTP and returns its URL. It ends with the test. */
export async function era2026HttpChild(...flags: string[]): Promise<string> {
  const child = spawn(process.execPath, [ERA_2026_CHILD, "--http", ...flags], {
    stdio: ["pipe", "ignore", "pipe"],
  });
  atEnd(() => void child.kill("SIGKILL"));
  return await new Promise((resolve, reject) => {
    child.stderr.once("data", (line: Buffer) => resolve(line.toString().trim()));
    child.once("exit", (code) => reject(new Error(`the child ended with ${code}`)));
  });
}
