/**
 * Reads a response with a status other than 2xx: a JSON-RPC error, the loss of the session, or a failure.
 * Pure.
 */
import type { IncomingMessage } from "node:http";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import type { Mask } from "../../kernel/secret.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { readMessage } from "../../rpc/scan.ts";
import { ChildFailure } from "../link.ts";
import { statusFailure } from "./failure.ts";

/** Larger bodies are not read: they are error pages of proxies. */
export const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 300;
/**
 * The codes with which common servers refuse an unknown session: a server's own codes, and "invalid request".
 */
const UNKNOWN_SESSION: ReadonlySet<unknown> = new Set([-32000, -32001, -32600]);

export interface RefusedRequest {
  readonly where: string;
  /** The id of the refused request; undefined if the message was no request. */
  readonly id: number | undefined;
  readonly session: "none" | "fresh" | "proven";
  /** Removes secrets from the text of the server. */
  readonly mask: Mask;
}

/** `body` is undefined if it could not be read. */
export function readRefusal(
  response: IncomingMessage,
  body: Buffer | undefined,
  refused: RefusedRequest,
): Message | ChildFailure {
  const status = response.statusCode ?? 0;
  const message = body && readMessage(body);
  const error = message?.kind === "error" ? message : undefined;
  const said = error && shownText(error.error, refused.mask);

  if (status === 404 && refused.session !== "none") return sessionLost(refused, said);
  const ours = error?.id !== undefined && ownId(error.id) === refused.id;
  if (error && ours && status >= 400 && status < 500 && status !== 401 && status !== 403) return error;
  // Many servers answer 400 where the protocol requires 404. It counts as a lost session only if the session
  // has worked: otherwise a server that refuses every request would be reconnected for ever. With the code of
  // another kind of error the request may have run.
  if (status === 400 && error && refused.session === "proven")
    return sessionLost(refused, said, UNKNOWN_SESSION.has(codeOf(error.error)));
  return statusFailure(response, refused.where, said);
}

function codeOf(error: Raw): unknown {
  return (fromRaw(error) as { code?: unknown } | null)?.code;
}

function sessionLost(
  { where, session }: RefusedRequest,
  said: string | undefined,
  unsent = true,
): ChildFailure {
  const detail = said ? ` (${said})` : "";
  if (session === "proven")
    return new ChildFailure("other", `${where} no longer knows the session${detail}`, {
      sessionLost: true,
      unsent,
    });
  return new ChildFailure(
    "other",
    `${where} does not know the session it has just created${detail}; are there several instances behind one address?`,
    { unsent: true },
  );
}

function shownText(error: Raw, mask: Mask): string | undefined {
  const text = (fromRaw(error) as { message?: unknown } | null)?.message;
  return typeof text === "string" ? mask(text).replace(/\s+/g, " ").slice(0, MAX_TEXT_LENGTH) : undefined;
}
