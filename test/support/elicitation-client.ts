/** Official clients of both eras that answer elicitations during a call. */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as StreamableV2,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { atEnd } from "./shared.ts";
import type { TeamGateway } from "./team-gateway.ts";

export interface Question {
  readonly mode?: string | undefined;
  readonly message: string;
  readonly url?: string | undefined;
  readonly elicitationId?: string | undefined;
}

type Action = "accept" | "decline" | "cancel";

export interface ElicitationClient {
  /** Elicitations so far. */
  readonly asked: Question[];
  /** Ids of completed elicitations. */
  readonly completed: string[];
  call(name: string, args?: Record<string, unknown>): Promise<string>;
}

export const ELICITATION_REVISIONS = ["2025-11-25", "2026-07-28"] as const;

export async function elicitationClient(
  { url }: Pick<TeamGateway, "url">,
  endpoint: string,
  options: {
    readonly key: string;
    readonly era: (typeof ELICITATION_REVISIONS)[number];
    answer(question: Question): Promise<Action>;
  },
): Promise<ElicitationClient> {
  const at = new URL(`${url}/metamcp/${endpoint}/mcp`);
  const requestInit = { headers: { "x-api-key": options.key } };
  const info = { name: "asked", version: "1.0.0" };
  const capabilities = { elicitation: { url: {}, form: {} } };
  const asked: Question[] = [];
  const completed: string[] = [];
  const answer = async (params: unknown): Promise<{ action: Action }> => {
    asked.push(params as Question);
    return { action: await options.answer(params as Question) };
  };
  const texts = ({ content }: Record<string, unknown>): string =>
    (content as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
  if (options.era === "2026-07-28") {
    const client = new ClientV2(info, { capabilities, versionNegotiation: { mode: { pin: options.era } } });
    client.setRequestHandler("elicitation/create", ({ params }) => answer(params));
    await client.connect(new StreamableV2(at, { requestInit }));
    atEnd(() => client.close());
    return {
      asked,
      completed,
      call: async (name, args = {}) => texts(await client.callTool({ name, arguments: args })),
    };
  }
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    completed.push(params.elicitationId);
  });
  await client.connect(new StreamableHTTPClientTransport(at, { requestInit }) as never);
  atEnd(() => client.close());
  return {
    asked,
    completed,
    call: async (name, args = {}) => texts(await client.callTool({ name, arguments: args })),
  };
}
