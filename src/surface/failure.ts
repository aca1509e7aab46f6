/** Converts failures to results: a failed tool call is a result with `isError`, never a JSON-RPC error. */
import { type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { visibleLines } from "../kernel/visible.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { joinObject, member, members, withMember } from "../rpc/slice.ts";
import { RawDetails } from "./raw-details.ts";
import { previewOf } from "./result/preview.ts";
import { sketchOf } from "./result/sketch.ts";

const LARGEST_ERROR = 32_768;
const LONGEST_MESSAGE = 2_000;
const LARGEST_DATA = 400;
const DETAILS = ["code", "message", "data"] as const;
/** The key in `_meta` for the error object, if `structuredContent` belongs to the tool. */
const ERROR_META = "metamcp/error";

/**
 * Where the error object goes: into `structuredContent`, or into `_meta` if the tool has its own output
 * schema.
 */
export type ErrorPlace = "structured" | "meta";

export function failedResult(error: MetaMcpError, place: ErrorPlace = "structured"): Raw {
  const object = errorObject(error);
  return joinObject([
    ["content", toRaw([{ type: "text", text: errorText(error) }])],
    ["structuredContent", place === "structured" ? joinObject([["error", object]]) : undefined],
    ["isError", toRaw(true)],
    ["_meta", place === "meta" ? joinObject([[ERROR_META, object]]) : undefined],
  ]);
}

/** For a model that sees only the text: what happened, what to do, and whether to repeat the call. */
export function errorText(error: MetaMcpError): string {
  return [`${error.code}: ${sentence(visibleLines(error.message))}`, detailsText(error), advice(error)]
    .filter((part) => part !== "")
    .join(" ");
}

/** The details that the message does not contain, as text. */
export function detailsText({ context: { cause } }: MetaMcpError): string {
  if (cause instanceof RawDetails) return cause.text;
  const [data] = cause instanceof RpcError ? members(cause.raw, ["data"]) : [];
  return data && data.length <= LARGEST_DATA ? `Details: ${data.toString()}` : "";
}

/** What to do next, where that is not the same for all errors that are not retryable. */
const NEXT: { readonly [code in ErrorCode]?: string } = {
  cancelled: "",
  validation_input: "Correct the arguments and call again.",
  execution_failed:
    "If the reason can pass, such as a limit or a lost connection, wait and try again; otherwise change the call.",
  chain_step_failed: "Earlier steps have run: continue from the failed one.",
  auth_required: "Repeat the call after that.",
  sandbox_limit: "Change the code.",
  sandbox_terminated: "Check what its calls did before you run it again.",
};
/** The own tools that run code. */
const RUNS_CODE: ReadonlySet<string | undefined> = new Set(["mcp_execute", "execute_code"]);

function advice({ code, retryable, context }: MetaMcpError): string {
  const { retryAfterMs, op, retryable: given, mayHaveRun } = context;
  if (retryable)
    return retryAfterMs ? `Retry after ${Math.ceil(retryAfterMs / 1_000)} s.` : "Retrying is safe.";
  // The message says what to check before the call is repeated.
  if (mayHaveRun) return "";
  if (code === "execution_failed" && RUNS_CODE.has(op)) return "Correct the code and run it again.";
  return (given === undefined ? NEXT[code] : undefined) ?? "Do not repeat the same call.";
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The error as JSON. Parts that the child wrote are copied byte for byte. */
export function errorObject(error: MetaMcpError): Raw {
  const { cause } = error.context;
  const object = toRaw(error);
  if (cause instanceof RawDetails) return withMember(object, "details", cause.details);
  return cause instanceof RpcError ? withDetails(object, cause) : object;
}

/** Converts an error to a failed tool result. Throws an RpcError on, because it stays a JSON-RPC error. */
export function asResult(log: Log, error: unknown, place?: ErrorPlace): Raw {
  if (MetaMcpError.is(error)) return failedResult(error, place);
  if (error instanceof RpcError) throw error;
  return failedResult(internalError(log, error), place);
}

export function internalError(log: Log, error: unknown): MetaMcpError {
  log.error("a bug in MetaMCP", { error: error instanceof Error ? error.stack : error });
  return new MetaMcpError("internal", "Internal error in MetaMCP; see its log.");
}

function withDetails(object: Raw, { raw }: RpcError): Raw {
  const written = members(raw, DETAILS);
  return withMember(object, "details", joinObject(DETAILS.map((key, at) => [key, written[at]])));
}

/** Wraps a JSON-RPC error of the child, for surfaces on which a tool call must return a result. */
export function executionFailed(error: RpcError, context: { server: string; tool_id: string }): MetaMcpError {
  const large = error.raw.length > LARGEST_ERROR;
  // The details contain the whole message, unless the error is too large.
  const message = error.message.slice(0, LONGEST_MESSAGE);
  const data = large ? outlineOf(member(error.raw, "data")) : error.data;
  return new MetaMcpError("execution_failed", `${context.server} answered with an error: ${message}`, {
    ...context,
    details: { code: error.code, message: large ? message : error.message, data },
    ...(!large && { cause: error }),
  });
}

/** Shortens the data of an error, so that it does not fill the model's context window. */
function outlineOf(data: Raw | undefined): unknown {
  return data && JSON.parse(previewOf(sketchOf(data), (json) => json.length <= LONGEST_MESSAGE));
}
