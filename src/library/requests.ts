/** What the library asks of servers besides tools: resources, prompts, and code that calls tools. */
import { MetaMcpError } from "../kernel/errors.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { member } from "../rpc/slice.ts";
import { askServer } from "../surface/builtin/ask-server.ts";
import { callBuiltinTool } from "../surface/builtin/builtin-tool.ts";
import { PROMPT, READ } from "../surface/builtin/tools.ts";
import { execute } from "../surface/meta/execute.ts";
import { requireServer } from "../surface/require-server.ts";
import type { Scope, ScopeCalls, ScopeCatalog } from "../surface/scope.ts";
import type { ClientRequest } from "../surface/surface.ts";

export interface Wanted {
  readonly server: string;
  readonly method: "resources/read" | "prompts/get";
  readonly params: Readonly<Record<string, unknown>>;
}

/** The answer of the server, as in the protocol. */
export async function ask(
  scope: ScopeCatalog & ScopeCalls,
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
  return await callBuiltinTool(scope, { tool, args: toRaw({ server }) }, request);
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
