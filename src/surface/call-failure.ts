/**
 * Why a call failed, for its record: in our words, which everybody who sees the call may read, or in those of
 * the server.
 */
import { type ErrorCode, MetaMcpError } from "../kernel/errors.ts";
import type { CallFailure } from "../kernel/events.ts";
import { isRecord } from "../kernel/is-record.ts";
import { fromRaw, type Raw } from "../kernel/raw.ts";
import { RpcError } from "../rpc/rpc-error.ts";
import { members } from "../rpc/slice.ts";

/** Records keep less. Secrets are masked before they are cut, so this is more than they keep. */
const LONGEST = 8_192;
/** Larger results are not searched for their text. */
const LARGEST_RESULT = 262_144;
/** Their messages quote a server, or code that a model wrote. */
const QUOTES: ReadonlySet<unknown> = new Set<ErrorCode>([
  "execution_failed",
  "chain_step_failed",
  "sandbox_limit",
  "sandbox_terminated",
]);

/** `reached`: the server was asked, so an error that is not ours is its answer. */
export function failureOf(error: unknown, reached = false): CallFailure {
  const text = String((error as Error | undefined)?.message ?? error).slice(0, LONGEST);
  if (!MetaMcpError.is(error))
    return reached || !(error instanceof RpcError) ? { error: text } : { reason: text };
  const { hidden, output } = error.context;
  if (QUOTES.has(error.code)) return { error: text, output };
  return { reason: hidden ?? text, output };
}

/** A failed tool call is a result: its texts say why. `own`: one of our own tools made it. */
export function failureInResult(result: Raw, own: boolean): CallFailure {
  if (result.length > LARGEST_RESULT) return {};
  const [content, structured] = members(result, ["content", "structuredContent"]);
  const { error } = own && structured ? ((fromRaw(structured) ?? {}) as { error?: unknown }) : {};
  if (isRecord(error) && typeof error["message"] === "string")
    return ownFailure(error["code"], error["message"]);
  const blocks: unknown = content && fromRaw(content);
  const texts = (Array.isArray(blocks) ? blocks : []).flatMap((block: unknown) =>
    isRecord(block) && typeof block["text"] === "string" ? block["text"] : [],
  );
  return texts.length === 0 ? {} : { error: texts.join("\n").slice(0, LONGEST) };
}

function ownFailure(code: unknown, message: string): CallFailure {
  const text = message.slice(0, LONGEST);
  return QUOTES.has(code) ? { error: text } : { reason: text };
}
