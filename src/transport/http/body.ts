/** Reads the JSON-RPC message in the body of a request. Refuses a body as soon as it exceeds the limit. */
import type { ServerResponse } from "node:http";
import { LARGE_BYTES, ownTurn } from "../../kernel/own-turn.ts";
import { shareOf } from "../../kernel/principal.ts";
import { type ArrivingBody, unfinishedBodies } from "../../kernel/unfinished-bodies.ts";
import type { Malformed, Message } from "../../rpc/message.ts";
import { readMessage } from "../../rpc/scan.ts";
import { forwardedOf } from "./forwarded.ts";
import { fail, type Received, refuse, refuseMessage } from "./http-server.ts";

export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Calls `onMessage` with the message. Refuses a body that is not a message, unless `onBatch` returns true for
 * it. Calls neither if the client disconnects or the response ends before the body is complete.
 */
export function readMessageOf(
  received: Received,
  onMessage: (message: Message, body: Buffer) => void,
  onBatch: (bytes: Buffer, malformed: Malformed) => boolean = () => false,
): void {
  const { request, response } = received;
  const { headers } = request;
  if (!isJson(headers["content-type"])) return refuse(response, 415, "content-type must be application/json");
  const length = Number(headers["content-length"]);
  if (length > MAX_BODY_BYTES) return refuseSize(response);
  const whole = forwardedOf(request)?.body;
  if (whole) return read(whole);
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  // Most bodies are complete with their first part, so only the others are counted.
  let arriving: ArrivingBody | undefined;
  let dropped = false;
  const drop = (): void => {
    dropped = true;
    first = more = undefined;
    arriving?.done();
  };
  request.on("data", (part: Buffer) => {
    if (dropped) return;
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) {
      drop();
      return refuseSize(response);
    }
    if (!first) first = part;
    else if (more) more.push(part);
    else more = [first, part];
    if (bytes !== length) arriving ??= begin();
    arriving?.add(part.length);
  });
  function begin(): ArrivingBody {
    const body = unfinishedBodies.begin(shareOf(received.principal), () => {
      drop();
      if (response.headersSent) return;
      response.setHeader("connection", "close");
      refuse(response, 503, "too many requests are arriving at once");
    });
    request.once("close", () => body.done());
    return body;
  }
  request.on("end", () => {
    if (dropped) return;
    arriving?.done();
    read(more ? Buffer.concat(more, bytes) : (first ?? Buffer.alloc(0)));
  });
  function read(body: Buffer): void {
    if (body.length < LARGE_BYTES) attempt(() => take(body, readMessage(body)));
    else readLarge(body).catch(() => fail(response));
  }
  async function readLarge(body: Buffer): Promise<void> {
    await ownTurn();
    const message = readMessage(body);
    await ownTurn();
    if (!response.closed) take(body, message);
  }
  function take(body: Buffer, message: Message | Malformed): void {
    // The response has already ended if the credentials or the endpoint ended while the body arrived.
    if (response.writableEnded) return;
    if (message.kind !== "malformed") onMessage(message, body);
    else if (!onBatch(body, message)) refuseMessage(response, message);
  }
  function attempt(run: () => void): void {
    try {
      run();
    } catch {
      fail(response);
    }
  }
}

/** A web page of another origin cannot send this content type without a CORS preflight. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type);
}

function refuseSize(response: ServerResponse): void {
  refuse(response, 413, `a message may have at most ${MAX_BODY_BYTES} bytes`);
}
