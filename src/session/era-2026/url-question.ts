/**
 * Converts URL elicitation of legacy servers, which has an id or is an error that lists the URLs, into
 * questions of the stateless era.
 */
import { randomUUID } from "node:crypto";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { mayAsk } from "../../rpc/era-2026/names.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, withMember } from "../../rpc/slice.ts";

const URL_REQUIRED = -32042;
const NEEDED = { elicitation: { url: {} } };

/** Removes the `elicitationId`, which this era does not have: the client learns the outcome by retrying. */
export function withoutId(method: string, params: Raw | undefined): Raw | undefined {
  if (method !== "elicitation/create" || !params?.includes("elicitationId")) return params;
  return withMember(params, "elicitationId", undefined);
}

/**
 * If the error asks the user to visit pages first, returns them as questions, or an error if the client lacks
 * the capability.
 */
export function pagesToVisit(
  reason: unknown,
  method: string,
  lacks: (required: object) => object | undefined,
): Raw | RpcError | undefined {
  if (!(reason instanceof RpcError) || reason.code !== URL_REQUIRED || !mayAsk(method)) return undefined;
  const { elicitations } = (reason.data ?? {}) as { elicitations?: unknown };
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  if (lacks(NEEDED)) return RpcError.of(URL_REQUIRED, reason.message, { requiredCapabilities: NEEDED });
  const questions = elicitations.map((page: unknown) => {
    const { elicitationId, ...params } = { ...(page as Record<string, unknown>) };
    const name = typeof elicitationId === "string" ? elicitationId : randomUUID();
    return [name, toRaw({ method: "elicitation/create", params: { mode: "url", ...params } })] as const;
  });
  return joinObject(questions);
}
