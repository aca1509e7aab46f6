/** Reads a submitted HTML form. */
import type { IncomingMessage } from "node:http";
import { readBounded } from "../kernel/read-bounded.ts";

const MAX_BYTES = 16 * 1024;

/** Returns undefined if the body is not a form, or is too large. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")) return undefined;
  const body = await readBounded(request, MAX_BYTES);
  return body && new URLSearchParams(body.toString());
}
