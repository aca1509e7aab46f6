/** Reads a request's body up to a limit. One over it is refused as soon as that is known, not when it has all come. */
import type { IncomingMessage } from "node:http";

/** The bytes, or "too-large"; rejects if the client goes away first. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | "too-large"> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve("too-large");
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes > limit) {
        parts.length = 0;
        resolve("too-large");
      } else parts.push(part);
    });
    request.once("end", () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
    request.once("error", reject);
    request.once("close", () => reject(new Error("the client went away")));
  });
}
