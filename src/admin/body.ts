/**
 * Reads the body of an admin request, with limits for size and depth: JSON, or YAML if the route accepts it.
 */
import type { IncomingMessage } from "node:http";
import { readInThread } from "../gateway/document/document-worker.ts";
import { faultIn, MAX_VALUES, SECTIONS, type ValueFault } from "../gateway/value-limits.ts";
import { asRaw } from "../kernel/raw.ts";
import { unfinishedBodies } from "../kernel/unfinished-bodies.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { Problem } from "./problem.ts";

const MAX_BYTES = 1024 * 1024;
/** For whole documents: what a gateway exports can be applied to it. */
export const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
const CLOSE = { connection: "close" };

export const JSON_TYPES = ["application/json", "application/merge-patch+json"] as const;
export const YAML_TYPES = ["application/yaml", "text/yaml"] as const;

export interface BodyRules {
  readonly types: readonly string[];
  /** Who sends the body. Each sender has a share of the memory for bodies that are still arriving. */
  readonly sender: string;
  /** Default: `MAX_BYTES`. */
  readonly maxBytes?: number | undefined;
}

/** Returns undefined for an empty body. Rejects with Problem. */
export async function readBody(
  request: IncomingMessage,
  { types, sender, maxBytes = MAX_BYTES }: BodyRules,
): Promise<unknown> {
  const bytes = await readBytes(request, sender, maxBytes);
  if (bytes.length === 0) return undefined;
  const isYaml = (YAML_TYPES as readonly string[]).includes(typeOf(request, types));
  const isDocument = maxBytes > MAX_BYTES;
  if (!isYaml && !(isDocument && isLarge(bytes))) {
    const value = parseJson(bytes);
    const fault = faultIn(value, isDocument ? { wide: SECTIONS } : {});
    if (fault) throw problemOf(fault);
    return value;
  }
  const read = await readInThread(bytes, isYaml ? "yaml" : "json", sender);
  if ("value" in read) return read.value;
  throw problemOf(read);
}

function isLarge(bytes: Buffer): boolean {
  return bytes.length > MAX_BYTES || hasManyValues(asRaw(bytes), MAX_VALUES, MAX_VALUES);
}

function problemOf({
  status,
  reason,
  path,
}: Omit<ValueFault, "status"> & { readonly status: number }): Problem {
  if (path === undefined) return new Problem(status, reason);
  return new Problem(status, `${path} ${reason}`.trim(), { errors: [{ path, message: reason }] });
}

/** Returns the content type. Throws Problem if it is not one of `types`. */
export function typeOf({ headers }: IncomingMessage, types: readonly string[]): string {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!types.includes(type)) throw new Problem(415, `content-type must be ${types.join(" or ")}`);
  return type;
}

/**
 * Reads the whole body, or rejects with Problem as soon as it is too large. The rest of a body that is too
 * large is read and dropped: if the connection were closed while the client still sends, the client would not
 * see the response.
 */
export function readBytes(request: IncomingMessage, sender: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new Problem(413, `a request may have at most ${maxBytes} bytes`));
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
      request.resume();
      return tooLarge();
    }
    let parts: Buffer[] = [];
    let length = 0;
    const arriving = unfinishedBodies.begin(sender, () => {
      parts = [];
      reject(new Problem(503, "too many requests are arriving at once", { headers: CLOSE }));
    });
    request.on("data", (part: Buffer) => {
      length += part.length;
      if (length > maxBytes) {
        parts = [];
        arriving.done();
        return tooLarge();
      }
      parts.push(part);
      arriving.add(part.length);
    });
    request.once("end", () => {
      arriving.done();
      resolve(Buffer.concat(parts));
    });
    request.once("close", () => {
      arriving.done();
      reject(new Problem(400, "the request was cut off"));
    });
    request.once("error", reject);
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem(400, "the body is not valid UTF-8");
  }
}

/**
 * Refuses many values before they are parsed: a parser cannot be interrupted, and each value costs more when
 * it is checked.
 */
function parseJson(bytes: Buffer): unknown {
  if (hasManyValues(asRaw(bytes), MAX_VALUES, MAX_VALUES))
    throw new Problem(413, `the body may have at most ${MAX_VALUES} values`);
  try {
    return JSON.parse(decode(bytes)) as unknown;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(400, `the body is not valid JSON: ${(error as Error).message}`);
  }
}
