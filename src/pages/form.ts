/** Reads a submitted HTML form. */
import type { IncomingMessage } from "node:http";

const MAX_BYTES = 16 * 1024;

/** Returns undefined if the body is not a form, or is too large. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) return undefined;
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString());
}
