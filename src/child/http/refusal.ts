/** Reads an answer whose status is not 2xx: an error of the protocol, the loss of the session, or a failure. Decides only, does nothing. */
import type { IncomingMessage } from "node:http";
import { fromRaw, type Raw } from "../../kernel/raw.ts";
import type { Mask } from "../../kernel/secret.ts";
import { ownId } from "../../rpc/id.ts";
import type { Message } from "../../rpc/message.ts";
import { readMessage } from "../../rpc/scan.ts";
import { ChildFailure } from "../link.ts";
import { statusFailure } from "./failure.ts";

/** A refusal is a few lines of text; nobody needs the whole error page of a proxy. */
export const MAX_REFUSAL_BYTES = 64 * 1024;
const MAX_SAID = 300;

export interface RefusedRequest {
  readonly where: string;
  /** Of the request that was refused; undefined where it was no request. */
  readonly id: number | undefined;
  readonly session: "none" | "fresh" | "proven";
  /** Takes out what may not be repeated, even if the server does. */
  readonly mask: Mask;
}

/** `body` is undefined where it could not be read. */
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
  // Many servers say 400 where the protocol has 404. Believed only of a session that has worked: else a server that
  // dislikes every request would be dialled anew for ever.
  if (status === 400 && error && refused.session === "proven") return sessionLost(refused, said);
  return statusFailure(response, refused.where, said);
}

function sessionLost({ where, session }: RefusedRequest, said: string | undefined): ChildFailure {
  const detail = said ? ` (${said})` : "";
  if (session === "proven")
    return new ChildFailure("other", `${where} no longer knows the session${detail}`, {
      sessionLost: true,
      unsent: true,
    });
  return new ChildFailure(
    "other",
    `${where} does not know the session it has just created${detail}; are there several instances behind one address?`,
    { unsent: true },
  );
}

function shownText(error: Raw, mask: Mask): string | undefined {
  const text = (fromRaw(error) as { message?: unknown } | null)?.message;
  return typeof text === "string" ? mask(text).replace(/\s+/g, " ").slice(0, MAX_SAID) : undefined;
}
