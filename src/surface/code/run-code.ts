/**
 * Runs code of a model. Every call it makes takes the path of a direct call, with the same rules and the same
 * client.
 */
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { callerOf } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { asRaw, type Raw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import {
  type Executor,
  LIMITS,
  type LogLine,
  type OutCall,
  type Outcome,
  type ToolNames,
} from "../../sandbox/executor.ts";
import { callTool } from "../call-tool.ts";
import { detailsText, executionFailed, internalError } from "../failure.ts";
import { recorded } from "../recorded.ts";
import { restartNote } from "../result/restart-note.ts";
import type { Scope, ScopeCatalog } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { WHOLE } from "./call-records.ts";
import { CodeProgress } from "./code-progress.ts";
import { describeTool, readWhole, searchTools } from "./look-up.ts";
import { resolveName, resolveServer } from "./resolve-name.ts";

export interface CodeJob {
  readonly code: string;
  readonly timeoutMs?: number;
  readonly mostCalls?: number;
  /** `_meta` of the client's request, with the progress token. */
  readonly meta: Raw | undefined;
  /** How code finds tools, for hints in errors. */
  readonly finder: string;
}

/** The longest timeout of code. */
export const LONGEST_MS = 600_000;
const MAX_CALLS = 1_000;

export async function runCode(
  scope: Scope,
  executor: Executor,
  job: CodeJob,
  request: ClientRequest,
): Promise<Outcome> {
  const { code, timeoutMs = LIMITS.wallMs, mostCalls = LIMITS.calls, meta, finder } = job;
  const progress = new CodeProgress(request.uplink, meta);
  const restarts: LogLine[] = [];
  const outcome = await executor.run({
    code,
    servers: [...scope.specs().keys()].filter((server) => scope.has(server, request.origin)),
    tools: await toolNames(scope, code, request),
    limits: { ...LIMITS, wallMs: Math.min(timeoutMs, LONGEST_MS), calls: Math.min(mostCalls, MAX_CALLS) },
    principal: callerOf(request.origin),
    signal: request.signal,
    progress: (report) => progress.reported(report),
    async call(call) {
      const { server, signal, hold } = call;
      const inner: ClientRequest = {
        ...request,
        signal,
        hold,
        uplink: progress.uplinkOf(call),
        // Each call of code is recorded separately.
        via: "code",
        trail: undefined,
        within: request.trail?.trace,
      };
      const result = await callOut(scope, call, { meta, finder }, inner);
      progress.callEnded(call);
      const restarted = server === BUILTIN_SERVER ? undefined : restartNote(server, result);
      if (restarted !== undefined) restarts.push({ level: "warn", text: restarted });
      return result.toString();
    },
  });
  return restarts.length === 0 ? outcome : { ...outcome, logs: [...restarts, ...outcome.logs] };
}

/** Own functions for code only, in addition to the own tools. */
const LOOK_UPS: ReadonlyMap<string, typeof readWhole> = new Map([
  ["search", searchTools],
  ["describe", describeTool],
  [WHOLE, readWhole],
]);

async function callOut(
  scope: Scope,
  { server, tool, args }: OutCall,
  { meta, finder }: Pick<CodeJob, "meta" | "finder">,
  request: ClientRequest,
): Promise<Raw> {
  const written = asRaw(Buffer.from(args));
  const lookUp = server === BUILTIN_SERVER ? LOOK_UPS.get(tool) : undefined;
  if (lookUp)
    return await recorded(scope, { server, tool, args: written }, request, (inner) =>
      lookUp(scope, written, inner),
    );
  const name = await resolveName(scope, { server, tool }, request);
  try {
    const result = await callTool(scope, { ...name, args: written, meta, finder }, request);
    if (server !== BUILTIN_SERVER) scope.results.links.noteAll(callerOf(request.origin), name.server, result);
    return result;
  } catch (error) {
    if (MetaMcpError.is(error)) throw withDetailsInMessage(error);
    if (error instanceof RpcError)
      throw executionFailed(error, { server: name.server, tool_id: `${name.server}:${name.tool}` });
    if (request.signal.aborted) throw new MetaMcpError("cancelled", "The call was cancelled.");
    throw internalError(scope.log, error);
  }
}

/** Code sees only the message of an error. */
function withDetailsInMessage(error: MetaMcpError): MetaMcpError {
  const more = detailsText(error);
  return more === "" ? error : new MetaMcpError(error.code, `${error.message} ${more}`, error.context);
}

/**
 * The tool names for `Object.keys(tools.server)`. They are loaded only if the code seems to list keys. A
 * server that the code names is started if its tools are not known.
 */
const LISTS_KEYS = /\b(?:keys|entries|getOwnPropertyNames|ownKeys|in)\b/;
const SERVER_NAME = /\btools\s*(?:\.\s*|\[\s*["'`])([^"'`\].\s(;,)]+)/g;

async function toolNames(
  scope: ScopeCatalog,
  code: string,
  { origin }: ClientRequest,
): Promise<ToolNames | undefined> {
  if (!LISTS_KEYS.test(code)) return undefined;
  const named = [...code.matchAll(SERVER_NAME)].map(([, written = ""]) =>
    resolveServer(scope, written, origin),
  );
  const servers = [...new Set(named)].filter((server) => scope.has(server, origin));
  const view = scope.view(origin);
  await view.loadCached();
  await scope.loader.loadMissing(servers, origin);
  const { listings } = view.snapshot;
  return Object.fromEntries(
    [...listings]
      .filter(([server]) => scope.has(server, origin))
      .map(([server, { tools }]) => [server, tools.map(({ name }) => name)]),
  );
}
