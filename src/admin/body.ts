/** Reads the body of an admin request, with limits for size and depth: JSON, or YAML if the route accepts it. */
import type { IncomingMessage } from "node:http";
import { convertYaml } from "../gateway/document/yaml-worker.ts";
import { pointer } from "../gateway/refusal.ts";
import { asRaw } from "../kernel/raw.ts";
import { unfinishedBodies } from "../kernel/unfinished-bodies.ts";
import { hasManyValues } from "../rpc/many-values.ts";
import { Problem } from "./problem.ts";

const MAX_BYTES = 1024 * 1024;
/** More than any config object needs, and far too little for recursion to overflow the stack. */
const MAX_DEPTH = 64;
/** More than the config of thousands of tools, and few enough to be checked in some milliseconds. */
const MAX_VALUES = 20_000;
const MAX_KEYS = 5_000;
const CLOSE = { connection: "close" };

export const JSON_TYPES = ["application/json", "application/merge-patch+json"] as const;
export const YAML_TYPES = ["application/yaml", "text/yaml"] as const;

export interface BodyRules {
  readonly types: readonly string[];
  /** Who sends the body. Each sender has a share of the memory for bodies that are still arriving. */
  readonly sender: string;
  /** Default: `MAX_BYTES`. */
  readonly maxBytes?: number;
}

/** Returns undefined for an empty body. Rejects with Problem. */
export async function readBody(
  request: IncomingMessage,
  { types, sender, maxBytes = MAX_BYTES }: BodyRules,
): Promise<unknown> {
  const bytes = await readBytes(request, sender, maxBytes);
  if (bytes.length === 0) return undefined;
  const type = typeOf(request, types);
  const isYaml = (YAML_TYPES as readonly string[]).includes(type);
  const value = parseJson(isYaml ? await yamlToJson(decode(bytes)) : bytes);
  const fault = faultIn(value);
  if (fault === undefined) return value;
  if (fault instanceof Problem) throw fault;
  const path = pointer("", ...fault).replace(/\p{Cs}/gu, "\u{fffd}");
  const message = "has an unpaired surrogate, which is not a character";
  throw new Problem(422, `${path} ${message}`.trim(), { errors: [{ path, message }] });
}

/** Returns the content type. Throws Problem if it is not one of `types`. */
export function typeOf({ headers }: IncomingMessage, types: readonly string[]): string {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!types.includes(type)) throw new Problem(415, `content-type must be ${types.join(" or ")}`);
  return type;
}

/**
 * Reads the whole body, or rejects with Problem as soon as it is too large. The rest of a body that is too large is read
 * and dropped: if the connection were closed while the client still sends, the client would not see the response.
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

/** Refuses many values before they are parsed: a parser cannot be interrupted, and each value costs more when it is checked. */
function parseJson(bytes: Buffer): unknown {
  if (hasManyValues(asRaw(bytes), MAX_VALUES))
    throw new Problem(413, `the body may have at most ${MAX_VALUES} values`);
  try {
    return JSON.parse(decode(bytes)) as unknown;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(400, `the body is not valid JSON: ${(error as Error).message}`);
  }
}

async function yamlToJson(text: string): Promise<Buffer> {
  const json = await convertYaml(text);
  if (typeof json === "string") return Buffer.from(json);
  throw new Problem(json.status, json.reason);
}

const SURROGATE = /\p{Cs}/u;

/** Returns the problem of a value that is too deep or too wide, or the keys on the way to the first text with an unpaired surrogate, which would change when it is encoded as UTF-8. */
function faultIn(value: unknown, depth = MAX_DEPTH): Problem | string[] | undefined {
  if (typeof value === "string") return SURROGATE.test(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return new Problem(400, `the body may have at most ${MAX_DEPTH} nested levels`);
  const keys = Object.keys(value);
  if (keys.length > MAX_KEYS && !Array.isArray(value))
    return new Problem(413, `an object in the body may have at most ${MAX_KEYS} keys`);
  for (const key of keys) {
    if (SURROGATE.test(key)) return [key];
    const fault = faultIn((value as Record<string, unknown>)[key], depth - 1);
    if (fault !== undefined) return fault instanceof Problem ? fault : [key, ...fault];
  }
  return undefined;
}
