/** Several ways to call a tool at an endpoint. Each returns one outcome and does not retry or hide errors. */
import { HEADERS, messages } from "../http-gateway.ts";
import { type TeamClient, type TeamGateway, teamClient } from "../team-gateway.ts";

export interface ToolCall {
  readonly endpoint: string;
  readonly surface: string;
  readonly server: string;
  /** The name of the tool at the endpoint. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface CallOutcome {
  /** `gone`: the endpoint or the session does not exist. */
  readonly kind: "ok" | "refused" | "gone";
  readonly text: string;
  /** Time when the session was opened. */
  readonly since: number;
}

export type Caller = (toolCall: ToolCall) => Promise<CallOutcome>;

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
}

/** The tool and arguments of the surface that make this call. */
function requestOf({ surface, server, name, args }: ToolCall, inCode: boolean): [string, object] {
  if (inCode && surface === "meta")
    return [
      "mcp_execute",
      {
        code: `return (await tools[${JSON.stringify(server)}][${JSON.stringify(name)}](${JSON.stringify(args)}))`,
      },
    ];
  if (surface === "meta") return ["mcp_call", { server, tool: name, args }];
  if (surface === "metatools") return ["run_tool", { tool_id: `${server}:${name}`, args }];
  return [`${server}__${name}`, args];
}

/** Part of the error for requests in flight when the endpoint ended or changed. */
const SESSIONS_ENDED = "ended its sessions";

const textOf = ({ content }: Result): string => content.map(({ text }) => text ?? "").join("\n");

/** Streamable HTTP without an SDK. One session per endpoint, which is opened again after it ended. */
export function sessionCaller({ url }: TeamGateway, key: string, inCode: boolean): Caller {
  const sessions = new Map<string, { readonly id: string; readonly since: number }>();
  let next = 0;
  const post = (endpoint: string, body: object, session?: string): Promise<Response> =>
    fetch(`${url}/metamcp/${endpoint}/mcp`, {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": key, ...(session && { "mcp-session-id": session }) },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  return async (toolCall) => {
    const { endpoint } = toolCall;
    let session = sessions.get(endpoint);
    if (!session) {
      const since = Date.now();
      const params = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "c", version: "1" },
      };
      const answer = await post(endpoint, { id: 0, method: "initialize", params });
      const text = await answer.text();
      if (answer.status === 404 || text.includes(SESSIONS_ENDED)) return { kind: "gone", text, since };
      const name = answer.headers.get("mcp-session-id");
      if (!answer.ok || name === null) throw new Error(`initialize: ${answer.status} ${text}`);
      session = { id: name, since };
      sessions.set(endpoint, session);
      await (await post(endpoint, { method: "notifications/initialized" }, session.id)).text();
    }
    const { since } = session;
    const [name, args] = requestOf(toolCall, inCode);
    const id = ++next;
    const answer = await post(
      endpoint,
      { id, method: "tools/call", params: { name, arguments: args } },
      session.id,
    );
    if (answer.status === 404) {
      sessions.delete(endpoint);
      return { kind: "gone", text: await answer.text(), since };
    }
    const all = await messages(answer);
    const answers = all.filter((message) => message["id"] === id);
    if (answers.length !== 1)
      throw new Error(`${answers.length} answers: ${answer.status} ${JSON.stringify(all)}`);
    const { result, error } = answers[0] as { result?: Result; error?: object };
    if (!result) {
      const text = JSON.stringify(error);
      return { kind: text.includes(SESSIONS_ENDED) ? "gone" : "refused", text, since };
    }
    return { kind: result.isError ? "refused" : "ok", text: textOf(result), since };
  };
}

/** Calls the tools of an endpoint over plain HTTP. */
export function restCaller({ url }: TeamGateway, key: string): Caller {
  return async ({ endpoint, server, name, args }) => {
    const since = Date.now();
    const answer = await fetch(`${url}/metamcp/${endpoint}/api/${server}__${name}`, {
      method: "POST",
      headers: { ...HEADERS, "x-api-key": key },
      body: JSON.stringify(args),
    });
    const text = await answer.text();
    if (answer.ok) return { kind: "ok", text: textOf(JSON.parse(text)), since };
    return {
      kind: answer.status === 404 && text.includes("not found") ? "gone" : "refused",
      text: `${answer.status} ${text}`,
      since,
    };
  };
}

/** Calls with official clients, for endpoints whose sessions are never ended. */
export function clientCaller(gateway: TeamGateway, key: string, way: "sse" | "2026-07-28"): Caller {
  const clients = new Map<string, Promise<TeamClient>>();
  return async (toolCall) => {
    const { endpoint } = toolCall;
    const client = clients.get(endpoint) ?? teamClient(gateway, endpoint, { key, way });
    clients.set(endpoint, client);
    const [name, args] = requestOf(toolCall, false);
    const since = Date.now();
    try {
      const text = await (await client).call(name, { ...args });
      return { kind: /^(tool|server)_not_found/.test(text) ? "refused" : "ok", text, since };
    } catch (error) {
      return { kind: "refused", text: String(error), since };
    }
  };
}
