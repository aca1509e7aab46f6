/** Reads the body of an admin request, with limits for size and depth: JSON, or YAML if the route accepts it. */
import type { IncomingMessage } from "node:http";
import { pointer } from "../gateway/refusal.ts";
import { Problem } from "./problem.ts";

const MAX_BYTES = 4 * 1024 * 1024;
/** More than any config object needs, and far too little for recursion to overflow the stack. */
const MAX_DEPTH = 64;

export const JSON_TYPES = ["application/json", "application/merge-patch+json"] as const;
export const YAML_TYPES = ["application/yaml", "text/yaml"] as const;

/** Returns undefined for an empty body. Rejects with Problem. */
export async function readBody(request: IncomingMessage, types: readonly string[]): Promise<unknown> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return undefined;
  const type = typeOf(request, types);
  const text = decode(bytes);
  const value = (YAML_TYPES as readonly string[]).includes(type) ? await parseYaml(text) : parseJson(text);
  if (isDeeper(value, MAX_DEPTH))
    throw new Problem(400, `the body may have at most ${MAX_DEPTH} nested levels`);
  const broken = unpairedSurrogateIn(value, "");
  if (broken !== undefined) {
    const message = "has an unpaired surrogate, which is not a character";
    throw new Problem(422, `${broken} ${message}`.trim(), { errors: [{ path: broken, message }] });
  }
  return value;
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
export function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new Problem(413, `a request may have at most ${MAX_BYTES} bytes`));
    if (Number(request.headers["content-length"] ?? 0) > MAX_BYTES) tooLarge();
    let parts: Buffer[] = [];
    let length = 0;
    request.on("data", (part: Buffer) => {
      length += part.length;
      if (length <= MAX_BYTES) return void parts.push(part);
      parts = [];
      tooLarge();
    });
    request.once("end", () => resolve(Buffer.concat(parts)));
    request.once("close", () => reject(new Problem(400, "the request was cut off")));
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Problem(400, `the body is not valid JSON: ${(error as Error).message}`);
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text, { uniqueKeys: true });
  const [error] = document.errors;
  if (error) throw new Problem(400, `the body is not valid YAML: ${error.message}`);
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (cause) {
    throw new Problem(400, `the body is not valid YAML: ${(cause as Error).message}`);
  }
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

const SURROGATE = /\p{Cs}/u;

/** Returns the JSON Pointer of the first text with an unpaired surrogate, which would change when it is encoded as UTF-8. */
function unpairedSurrogateIn(value: unknown, path: string): string | undefined {
  if (typeof value === "string") return SURROGATE.test(value) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const below = pointer(path, key);
    if (SURROGATE.test(key)) return below.replace(/\p{Cs}/gu, "\u{fffd}");
    const broken = unpairedSurrogateIn(inner, below);
    if (broken !== undefined) return broken;
  }
  return undefined;
}
