/** Reads a body up to a maximum size. A body that is cut off is an error. */
import type { IncomingMessage } from "node:http";

export type Body = Buffer | "too-large" | Error;

/** `done` is called once. Over the maximum the response is destroyed. */
export function readBody(response: IncomingMessage, maxBytes: number, done: (body: Body) => void): void {
  const parts: Buffer[] = [];
  let size = 0;
  let over = false;
  const finish = (body: Body): void => {
    if (over) return;
    over = true;
    done(body);
  };
  const tooLarge = (): void => {
    finish("too-large");
    response.destroy();
  };

  response.on("error", finish);
  if (Number(response.headers["content-length"]) > maxBytes) tooLarge();
  response.on("data", (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) tooLarge();
    else parts.push(part);
  });
  response.on("end", () => finish(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, size)));
}
