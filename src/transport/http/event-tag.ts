/**
 * The end of an event id where several replicas share sessions: which replica wrote the event, and in answer
 * to which request. So another replica can answer a request whose stream it cannot resume, because the one
 * that served it is gone.
 */
import { asRaw, type Raw } from "../../kernel/raw.ts";

export interface StreamRequest {
  readonly id: Raw;
  /** It may be repeated without harm. */
  readonly safe: boolean;
}

export interface EventTag {
  /** The id without the tag. */
  readonly event: string;
  readonly replica: string;
  /** Undefined for a stream that answers no request, or one with a very long id. */
  readonly request: StreamRequest | undefined;
}

const MAX_ID_BYTES = 128;
const TAG = /^(\d{1,15}-\d{1,15})-([\da-f]+)(?:-([su])-([\w-]{1,172}))?$/;

export function writeTag(replica: string, request?: StreamRequest): string {
  if (!request || request.id.length > MAX_ID_BYTES) return `-${replica}`;
  return `-${replica}-${request.safe ? "s" : "u"}-${request.id.toString("base64url")}`;
}

/** Returns undefined for an event id without a tag. */
export function readTag(eventId: string): EventTag | undefined {
  const [, event = "", replica, safe, encoded] = TAG.exec(eventId) ?? [];
  if (replica === undefined) return undefined;
  const id = encoded === undefined ? undefined : idIn(asRaw(Buffer.from(encoded, "base64url")));
  return { event, replica, request: id && { id, safe: safe === "s" } };
}

/** The client may have written anything. */
function idIn(raw: Raw): Raw | undefined {
  try {
    return ["string", "number"].includes(typeof JSON.parse(raw.toString())) ? raw : undefined;
  } catch {
    return undefined;
  }
}
