/** Runs one tool and returns its value or a MetaMcpError. Does not throw for failures of a child. */

import { repeatOf, type Tool } from "../../catalog/tool.ts";
import { BUILTIN_SERVER } from "../../kernel/builtin-server.ts";
import { callerOf, type Origin } from "../../kernel/call.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import { fromRaw, type Raw, toRaw } from "../../kernel/raw.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { joinObject } from "../../rpc/slice.ts";
import { withPageOf } from "../app-call.ts";
import { readsStored } from "../builtin/builtin-tool.ts";
import { callTool } from "../call-tool.ts";
import { executionFailed, internalError } from "../failure.ts";
import { RawDetails } from "../raw-details.ts";
import { type Shortened, shorten } from "../result/budget.ts";
import { startOf } from "../result/json-text.ts";
import { isWithin } from "../result/media.ts";
import { restartNote } from "../result/restart-note.ts";
import { partsOf, textsOf } from "../result/value.ts";
import type { Scope, ScopeCatalog, ScopeFacts } from "../scope.ts";
import type { ClientRequest } from "../surface.ts";
import { budgetFor, budgetOf } from "./bounds.ts";
import { knownTool } from "./known-tool.ts";
import type { ToolName } from "./tool-id.ts";

export interface ToolJob {
  readonly name: ToolName;
  readonly args: Raw;
  /** `_meta` of the client's request, with the progress token. */
  readonly meta: Raw | undefined;
  /** The own tool that runs it. */
  readonly op: string;
}

export interface StepOutcome {
  readonly durationMs: number;
  /** Undefined if the call failed. */
  readonly value?: Raw;
  readonly error?: MetaMcpError;
  /** The child's result as written, also a failed one; undefined if there was none. */
  readonly result?: Raw;
  /** The result is a page of a stored result. */
  readonly page?: boolean;
  /** Content blocks that are not text, also of a failed result. */
  readonly blocks?: readonly Raw[];
  /** Set if a failed result was too large to return and is stored. */
  readonly short?: Shortened;
  readonly meta?: Raw | undefined;
  /** The process of the server was replaced since the last call of this client. */
  readonly restarted?: string | undefined;
}

const LONGEST_MESSAGE = 2_000;
/** Of a stored failure, as JSON: the message is in the text and in the structured content. */
const LONGEST_STORED_MESSAGE = 1_000;
/** A failed result with a larger value is stored. */
const LONGEST_DETAILS = 8_000;

export async function execute(scope: Scope, job: ToolJob, request: ClientRequest): Promise<StepOutcome> {
  const { name, args, meta } = job;
  const since = scope.clock.now();
  const durationMs = (): number => Math.round((scope.clock.now() - since) * 1000) / 1000;
  try {
    const call = { server: name.server, tool: name.tool, args, meta, finder: "list_tools" };
    const result = withPageOf(scope, call, await callTool(scope, call, request), request);
    const page = readsStored(name.server, call);
    if (name.server !== BUILTIN_SERVER)
      scope.results.links.noteAll(callerOf(request.origin), name.server, result);
    const { value, failed, blocks, meta: resultMeta } = partsOf(result, { plain: page });
    const restarted = resultMeta && restartNote(name.server, result);
    if (!failed)
      return { durationMs: durationMs(), value, result, blocks, meta: resultMeta, page, restarted };
    const failure = { durationMs: durationMs(), result, meta: resultMeta, restarted };
    if (value.length <= LONGEST_DETAILS && isWithin(result, budgetFor(scope)))
      return { ...failure, error: failureOf(job, result, joinObject([["structured", value]])), blocks };
    const short = shorten(result, budgetOf(scope, name.id, request.origin), { value, blocks });
    return { ...failure, error: storedFailure(job, result, short), short };
  } catch (error) {
    return { durationMs: durationMs(), error: asMetaMcpError(scope, job, error) };
  }
}

/** The error for a result with `isError`, with the child's text. */
function failureOf({ name, op }: ToolJob, result: Raw, details: Raw): MetaMcpError {
  const text = textsOf(result).join("\n");
  const message = `${name.id} failed: ${text.slice(0, LONGEST_MESSAGE) || "it gave no reason"}`;
  return new MetaMcpError("execution_failed", message, {
    server: name.server,
    tool_id: name.id,
    op,
    details: fromRaw(details),
    cause: new RawDetails(details, text === "" ? details.toString() : ""),
  });
}

/** The error for a failed result that is stored, with the beginning of its text and how to read the rest. */
function storedFailure({ name, op }: ToolJob, result: Raw, { uri }: Shortened): MetaMcpError {
  const text = startOf(textsOf(result).join("\n"), LONGEST_STORED_MESSAGE) || "it gave no reason";
  const more = uri === undefined ? "…" : `… Read all of it with metamcp:read {uri: "${uri}"}.`;
  return new MetaMcpError("execution_failed", `${name.id} failed: ${text} ${more}`, {
    server: name.server,
    tool_id: name.id,
    op,
    details: { uri, bytes: result.length },
  });
}

function asMetaMcpError(scope: ScopeFacts, { name, op }: ToolJob, error: unknown): MetaMcpError {
  const { server, id } = name;
  const context = { server, tool_id: id, op };
  if (error instanceof RpcError) return executionFailed(error, context).with({ op });
  return (MetaMcpError.is(error) ? error : internalError(scope.log, error)).with(context);
}

export function backendOf({ server }: ToolName): Raw {
  return toRaw(server === BUILTIN_SERVER ? { kind: "local", server } : { kind: "mcp", server });
}

export function definitionOf(scope: ScopeCatalog, name: ToolName, origin: Origin): Raw | undefined {
  return knownTool(scope, name, origin)?.definition;
}

/** Whether the tool is known and safe to repeat. */
export function isSafe(tool: Tool | undefined): boolean {
  return tool !== undefined && repeatOf(tool.annotations) === "safe";
}
