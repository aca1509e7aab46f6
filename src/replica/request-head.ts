/**
 * A request of a client as replicas pass it on: who passes it, the head, the body. Everything but the
 * client's address is believed only after the request was authenticated again.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

export interface RequestHead {
  /** The address of the client. */
  readonly address: string;
  /** The sender gives the session away, which it has had. */
  readonly released: boolean;
  readonly method: string;
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: string[];
}

const OWN = /^(metamcp-replica-|sec-fetch-|proxy-)/;
/** Those that belong to one connection; and `Origin`, which the first replica has checked. */
const NOT_PASSED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
  "origin",
  "x-forwarded-for",
]);
/** Neither is possible in an address, a path or a header. */
const [NEXT, END] = ["\n", "\0"];

/** The head with the body. */
export function encodeRequest(
  { method = "GET", url = "/", headers }: IncomingMessage,
  body: Buffer | undefined,
  { address, released }: Pick<RequestHead, "address" | "released">,
): Buffer[] {
  let head = address + NEXT + (released ? "1" : "") + NEXT + method + NEXT + url;
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "string" && !NOT_PASSED.has(name) && !OWN.test(name))
      head += NEXT + name + NEXT + value;
  }
  if (body) head += `${NEXT}content-length${NEXT}${body.length}`;
  const bytes = Buffer.from(head + END, "latin1");
  return body ? [bytes, body] : [bytes];
}

/** Throws if these are not the bytes of a request. */
export function decodeRequest(content: Buffer): { readonly head: RequestHead; readonly body: Buffer } {
  const end = content.indexOf(END);
  const [address, released, method, url, ...headers] = content.toString("latin1", 0, end).split(NEXT);
  if (end < 0 || address === undefined || method === undefined || url === undefined || headers.length % 2 > 0)
    throw new Error("this is not a request");
  return {
    head: { address, released: released === "1", method, url, headers },
    body: content.subarray(end + 1),
  };
}

export function headersOf(pairs: readonly string[]): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (let at = 0; at < pairs.length; at += 2) headers[pairs[at] as string] = pairs[at + 1];
  return headers;
}
