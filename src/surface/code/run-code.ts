/** Code of a model on its way through a surface: every call it makes goes the way of a direct one, under the same rules and to the same client. */
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { asRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { joinObject } from "../../rpc/slice.ts";
import { type Executor, LIMITS, type OutCall, type Outcome } from "../../sandbox/executor.ts";
import { callTool } from "../call-tool.ts";
import type { ClientRequest } from "../face.ts";
import { executionFailed, internalError } from "../failure.ts";
import { OWN_SERVER } from "../own-tool.ts";
import type { Scope } from "../scope.ts";
import { CodeProgress } from "./code-progress.ts";
import { describeTool, searchTools } from "./look-up.ts";
import { resolveName } from "./resolve-name.ts";

export interface Job {
  readonly code: string;
  readonly timeoutMs?: number;
  readonly mostCalls?: number;
  /** `_meta` of the client's request, the progress token in it. */
  readonly meta: Raw | undefined;
  /** The tool of ours that shows what there is, for hints. */
  readonly finder: string;
}

/** Nobody waits longer for code. */
export const LONGEST_MS = 600_000;
const MOST_CALLS = 1_000;

export async function runCode(
  scope: Scope,
  executor: Executor,
  job: Job,
  request: ClientRequest,
): Promise<Outcome> {
  const { code, timeoutMs = LIMITS.wallMs, mostCalls = LIMITS.calls, meta, finder } = job;
  const progress = new CodeProgress(request.uplink, meta);
  const uplink = progress.wayBack();
  return await executor.run({
    code,
    servers: [...scope.specs().keys()],
    limits: { ...LIMITS, wallMs: Math.min(timeoutMs, LONGEST_MS), calls: Math.min(mostCalls, MOST_CALLS) },
    principal: callerOf(request.origin),
    signal: request.signal,
    progress: (report) => progress.said(report),
    async call(call) {
      const { signal } = call;
      const inner = { ...request, signal, uplink: progress.wayBackOf(uplink, call) };
      const result = await callOut(scope, call, { meta, finder }, inner);
      progress.called(call);
      return result.toString();
    },
  });
}

async function callOut(
  scope: Scope,
  { server, tool, args }: OutCall,
  { meta, finder }: Pick<Job, "meta" | "finder">,
  request: ClientRequest,
): Promise<Raw> {
  const written = asRaw(Buffer.from(args));
  if (server === OWN_SERVER && tool === "search") return await searchTools(scope, written, request);
  if (server === OWN_SERVER && tool === "describe") return await describeTool(scope, written, request);
  const name = await resolveName(scope, { server, tool }, request);
  try {
    const params = joinObject([
      ["name", toRaw(name.tool)],
      ["arguments", written],
      ["_meta", meta],
    ]);
    return await callTool(scope, { ...name, args: written, params, finder }, request);
  } catch (error) {
    if (MetaMcpError.is(error)) throw error;
    if (error instanceof RpcError)
      throw executionFailed(error, { server: name.server, tool_id: `${name.server}:${name.tool}` });
    if (request.signal.aborted) throw new MetaMcpError("cancelled", "The call was cancelled.");
    throw internalError(scope.log, error);
  }
}
