/** How a failure looks on the wire: a failed tool is a result with `isError`, never a JSON-RPC error. */
import { MetaMcpError } from "../kernel/errors.ts";
import type { Log } from "../kernel/log.ts";
import { type Raw, toRaw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { joinObject, members, withMember } from "../rpc/slice.ts";
import { schemaInWords } from "./misfit.ts";
import { previewOf } from "./result/preview.ts";
import { sketchOf } from "./result/sketch.ts";
import { Written } from "./written.ts";

const LARGEST_ERROR = 32_768;
const LONGEST_MESSAGE = 2_000;
const DETAILS = ["code", "message", "data"] as const;

export function failedResult(error: MetaMcpError): Raw {
  return joinObject([
    ["content", toRaw([{ type: "text", text: `${error.code}: ${error.message}${schemaInWords(error)}` }])],
    ["structuredContent", joinObject([["error", errorObject(error)]])],
    ["isError", toRaw(true)],
  ]);
}

/** The error as a program reads it. What the child wrote passes as it was written. */
export function errorObject(error: MetaMcpError): Raw {
  const { cause } = error.context;
  const told = toRaw(error);
  if (cause instanceof Written) return withMember(told, "details", cause.details);
  return cause instanceof RpcError ? withDetails(told, cause) : told;
}

/** What is malformed stays a JSON-RPC error; whatever else went wrong is a failed tool. */
export function asResult(log: Log, error: unknown): Raw {
  if (MetaMcpError.is(error)) return failedResult(error);
  if (error instanceof RpcError) throw error;
  return failedResult(internalError(log, error));
}

export function internalError(log: Log, error: unknown): MetaMcpError {
  log.error("a bug in MetaMCP", { error: error instanceof Error ? error.stack : error });
  return new MetaMcpError("internal", "MetaMCP itself failed here; its log has the details.");
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
  const data = large ? outlineOf(members(error.raw, ["data"])[0]) : error.data;
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
