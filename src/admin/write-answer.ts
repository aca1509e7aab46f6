/** Writes the answer of a route. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { compressed } from "./compressed.ts";
import type { AdminAnswer } from "./route.ts";

export async function writeAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, text, headers }: AdminAnswer,
): Promise<void> {
  const written = text?.content ?? (body === undefined ? "" : JSON.stringify(body));
  const plain = Buffer.from(written);
  // The answer to a change may have a new secret beside texts of others, and the length would tell about it.
  const { content, headers: encoding } =
    request.method === "GET" ? await compressed(plain, request.headers) : { content: plain, headers: {} };
  response.writeHead(status ?? (written === "" ? 204 : 200), {
    ...(written !== "" && { "content-type": text?.type ?? "application/json" }),
    "content-length": content.length,
    "cache-control": "no-store",
    ...encoding,
    ...(headers as OutgoingHttpHeaders | undefined),
  });
  response.end(content);
}
