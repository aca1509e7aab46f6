/** What the library asks of servers besides tools: resources, prompts, and code that calls tools. */
import { MetaMcpError } from "./kernel/errors.ts";
import { type Raw, toRaw } from "./kernel/raw.ts";
import { member } from "./rpc/slice.ts";
import { execute } from "./surface/meta/execute.ts";
import { askServer } from "./surface/own/ask-server.ts";
import { callOwnTool } from "./surface/own/own-tool.ts";
import { PROMPT, READ } from "./surface/own/tools.ts";
import { requireServer } from "./surface/require-server.ts";
import type { Scope } from "./surface/scope.ts";
import type { ClientRequest } from "./surface/surface.ts";

export interface Wanted {
  readonly server: string;
  readonly method: "resources/read" | "prompts/get";
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer of the server, as in the protocol. */
export async function ask(
  scope: Scope,
  { server, method, params }: Wanted,
  request: ClientRequest,
): Promise<Raw> {
  requireServer(scope, server, request.origin);
  const tool = method === "prompts/get" ? PROMPT.name : READ.name;
  return await askServer(scope, { server, method, params: toRaw(params), tool }, request);
}

/** The lists of a server, complete. */
export async function list(
  scope: Scope,
  server: string,
  tool: "resources" | "prompts",
  request: ClientRequest,
): Promise<Raw> {
  return await callOwnTool(scope, { tool, args: toRaw({ server }) }, request);
}

/** The outcome with value or error, logs and calls. */
export async function runCode(
  scope: Scope,
  input: { readonly code: string; readonly timeoutMs?: number | undefined },
  request: ClientRequest,
): Promise<Raw> {
  const { code: executor } = scope;
  if (!executor) throw new MetaMcpError("forbidden", "Code execution is turned off.");
  const result = await execute(scope, { args: toRaw(input), meta: undefined, executor }, request);
  return member(result, "structuredContent") as Raw;
}
