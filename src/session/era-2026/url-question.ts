/** Questions that send a person to a web page, which the old era puts otherwise: with an id of their own, or as an error that names them. */
import { randomUUID } from "node:crypto";
import { type Raw, toRaw } from "../../kernel/raw.ts";
import { mayAsk } from "../../rpc/era-2026/names.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import { joinObject, withMember } from "../../rpc/slice.ts";

const URL_REQUIRED = -32042;
const NEEDED = { elicitation: { url: {} } };

/** This era has no ids of such questions: the client learns how it went by asking again. */
export function withoutId(method: string, params: Raw | undefined): Raw | undefined {
  if (method !== "elicitation/create" || !params?.includes("elicitationId")) return params;
  return withMember(params, "elicitationId", undefined);
}

/** What a failed request would have the person visit first: as questions, or as a capability that is missing. */
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
