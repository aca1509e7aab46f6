/** Reads the JSON-RPC message in the body of a request. Refuses a body as soon as it exceeds the limit. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Malformed, Message } from "../../rpc/message.ts";
import { readMessage } from "../../rpc/scan.ts";
import { fail, refuse, refuseMessage } from "./http-server.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Calls `onMessage` with the message. Refuses a body that is not a message, unless `onBatch` returns true for it. Calls
 * neither if the client disconnects or the response ends before the body is complete.
 */
export function readMessageOf(
  request: IncomingMessage,
  response: ServerResponse,
  onMessage: (message: Message) => void,
  onBatch: (bytes: Buffer, malformed: Malformed) => boolean = () => false,
): void {
  const { headers } = request;
  if (!isJson(headers["content-type"])) return refuse(response, 415, "content-type must be application/json");
  if (Number(headers["content-length"] ?? 0) > MAX_BODY_BYTES) return refuseSize(response);
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  request.on("data", (part: Buffer) => {
    const fitted = bytes <= MAX_BODY_BYTES;
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) {
      first = more = undefined;
      if (fitted) refuseSize(response);
    } else if (!first) first = part;
    else if (more) more.push(part);
    else more = [first, part];
  });
  request.on("end", () => {
    // The response has already ended if the credentials or the endpoint ended while the body arrived.
    if (bytes > MAX_BODY_BYTES || response.writableEnded) return;
    try {
      const body = more ? Buffer.concat(more, bytes) : (first ?? Buffer.alloc(0));
      const message = readMessage(body);
      if (message.kind !== "malformed") onMessage(message);
      else if (!onBatch(body, message)) refuseMessage(response, message);
    } catch {
      fail(response);
    }
  });
}

/** A web page of another origin cannot send this content type without a CORS preflight. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type);
}

function refuseSize(response: ServerResponse): void {
  refuse(response, 413, `a message may have at most ${MAX_BODY_BYTES} bytes`);
}
