/** How a failure looks on the wire: a failed tool is a result with `isError`, never a JSON-RPC error. */
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { joinObject, member, members, withMember } from "../rpc/slice.ts";
import { previewOf } from "./result/preview.ts";
import { sketchOf } from "./result/sketch.ts";
import { Written } from "./written.ts";

const LARGEST_ERROR = 32_768;
const LONGEST_MESSAGE = 2_000;
const LARGEST_DATA = 400;
const DETAILS = ["code", "message", "data"] as const;
/** Where the error object stands if `structuredContent` belongs to the tool. */
const ERROR_META = "metamcp/error";

/** Who owns `structuredContent`: we do, or the tool with an output schema of its own. */
export type ErrorPlace = "structured" | "meta";

export function failedResult(error: MetaMcpError, place: ErrorPlace = "structured"): Raw {
  const object = errorObject(error);
  return joinObject([
    ["content", toRaw([{ type: "text", text: inWords(error) }])],
    ["structuredContent", place === "structured" ? joinObject([["error", object]]) : undefined],
    ["isError", toRaw(true)],
    ["_meta", place === "meta" ? joinObject([[ERROR_META, object]]) : undefined],
  ]);
}

/** All that a model needs which sees only this: what happened, what to do, whether to repeat it. */
export function inWords(error: MetaMcpError): string {
  return [`${error.code}: ${sentence(error.message)}`, detailsInWords(error), advice(error)]
    .filter((part) => part !== "")
    .join(" ");
}

/** What the message leaves to the details. */
export function detailsInWords({ context: { cause } }: MetaMcpError): string {
  if (cause instanceof Written) return cause.inWords;
  const [data] = cause instanceof RpcError ? members(cause.raw, ["data"]) : [];
  return data && data.length <= LARGEST_DATA ? `Details: ${data.toString()}` : "";
}

function advice({ code, retryable, context: { retryAfterMs } }: MetaMcpError): string {
  if (code === "cancelled") return "";
  if (code === "validation_input") return "Correct the arguments and call again.";
  if (!retryable) return "Do not repeat the same call.";
  return retryAfterMs ? `Retry after ${Math.ceil(retryAfterMs / 1_000)} s.` : "Retrying is safe.";
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The error as a program reads it. What the child wrote passes as it was written. */
export function errorObject(error: MetaMcpError): Raw {
  const { cause } = error.context;
  const told = toRaw(error);
  if (cause instanceof Written) return withMember(told, "details", cause.details);
  return cause instanceof RpcError ? withDetails(told, cause) : told;
}

/** What is malformed stays a JSON-RPC error; whatever else went wrong is a failed tool. */
export function asResult(log: Log, error: unknown, place?: ErrorPlace): Raw {
  if (MetaMcpError.is(error)) return failedResult(error, place);
  if (error instanceof RpcError) throw error;
  return failedResult(internalError(log, error), place);
}

export function internalError(log: Log, error: unknown): MetaMcpError {
  log.error("a bug in MetaMCP", { error: error instanceof Error ? error.stack : error });
  return new MetaMcpError("internal", "Internal error in MetaMCP; see its log.");
}

function withDetails(told: Raw, { raw }: RpcError): Raw {
  const written = members(raw, DETAILS);
  return withMember(told, "details", joinObject(DETAILS.map((key, at) => [key, written[at]])));
}

/** The child's own JSON-RPC error, for surfaces on which a tool call must be a result. */
export function executionFailed(error: RpcError, context: { server: string; tool_id: string }): MetaMcpError {
  const large = error.raw.length > LARGEST_ERROR;
  // All of it is in the details, unless that is too large as well.
  const message = error.message.slice(0, LONGEST_MESSAGE);
  const data = large ? outlineOf(member(error.raw, "data")) : error.data;
  return new MetaMcpError("execution_failed", `${context.server} answered with an error: ${message}`, {
    ...context,
    details: { code: error.code, message: large ? message : error.message, data },
    ...(!large && { cause: error }),
  });
}

/** An error floods no context window either. */
function outlineOf(data: Raw | undefined): unknown {
  return data && JSON.parse(previewOf(sketchOf(data), (json) => json.length <= LONGEST_MESSAGE));
}
