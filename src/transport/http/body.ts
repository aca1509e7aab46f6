/** Reads the message that a request carries. One over the limit is refused as soon as that is known, not when it has all come. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Malformed, Message } from "../../rpc/message.ts";
import { readMessage } from "../../rpc/scan.ts";
import { fail, refuse, refuseMessage } from "./front.ts";

const MOST_BODY = 4 * 1024 * 1024;

/** Calls back with the message; what is none has been refused, unless `onBatch` takes it. Does not if the client goes away or is answered first. */
export function readMessageOf(
  request: IncomingMessage,
  response: ServerResponse,
  onMessage: (message: Message) => void,
  onBatch: (bytes: Buffer, malformed: Malformed) => boolean = () => false,
): void {
  const { headers } = request;
  if (!isJson(headers["content-type"])) return refuse(response, 415, "content-type must be application/json");
  if (Number(headers["content-length"] ?? 0) > MOST_BODY) return refuseSize(response);
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  request.on("data", (part: Buffer) => {
    const fitted = bytes <= MOST_BODY;
    bytes += part.length;
    if (bytes > MOST_BODY) {
      first = more = undefined;
      if (fitted) refuseSize(response);
    } else if (!first) first = part;
    else if (more) more.push(part);
    else more = [first, part];
  });
  request.on("end", () => {
    // Somebody was answered before all had come: their credentials ended, or the endpoint did.
    if (bytes > MOST_BODY || response.writableEnded) return;
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

/** A page of a stranger cannot send this without asking first. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type);
}

function refuseSize(response: ServerResponse): void {
  refuse(response, 413, `a message may have at most ${MOST_BODY} bytes`);
}
