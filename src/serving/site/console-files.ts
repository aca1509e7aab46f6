/**
 * Serves the files of the console from memory. All files are read at the first request, so that they belong
 * to the same build.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Log } from "../../kernel/log.ts";

const ASSETS = "/assets/";
/** A page of the documentation, as text. */
const DOCUMENT = /^\/docs\/[a-z-]+\.md$/;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

/** Only files of this server run or are shown, and no other page may embed or reference the console. */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // Images and audio in results of tools.
    "img-src 'self' data:",
    "media-src data:",
    "font-src 'self'",
    "connect-src 'self'",
    // Pages of apps, which have an origin of their own.
    "frame-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  vary: "accept-encoding",
} as const;

interface ServedFile {
  readonly etag: string;
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

type Files = ReadonlyMap<string, ServedFile>;

export class ConsoleFiles {
  readonly #log: Log;
  readonly #folders: readonly string[];
  /** Undefined before the first request, and after a failure. */
  #files: Promise<Files> | undefined;
  /** The last failure in the log. Strangers can repeat a request, so the same failure is logged once. */
  #logged: string | undefined;

  /**
   * Uses the first folder that exists. The defaults are for the bundle, for a chunk of the bundle, and for
   * the source.
   */
  constructor(
    log: Log,
    folders: readonly string[] = ["./console", "../console", "../../../dist/console"].map(beside),
  ) {
    this.#log = log;
    this.#folders = folders;
  }

  /**
   * Browsers get the console for every path that nothing else serves; the console itself reports unknown
   * pages. Other clients get it only at `/`.
   */
  has(path: string, { method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean {
    if (path === "/" || path.startsWith(ASSETS) || DOCUMENT.test(path)) return true;
    return (method === "GET" || method === "HEAD") && headers.accept?.includes("text/html") === true;
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return end(response, 405, { allow: "GET, HEAD" });
    if (DOCUMENT.test(path)) return await this.#document(path, method, response);
    this.#files ??= readFiles(this.#folders);
    const files = await this.#files.catch((error: Error) => this.#failed(error));
    if (!files) return unavailable(response, method);
    const isAsset = path.startsWith(ASSETS);
    const file = files.get(isAsset ? path.slice(1) : "index.html");
    if (!file) return end(response, 404, isAsset ? { "cache-control": "no-store" } : {});
    const headers = {
      ...HEADERS,
      "content-type": file.type,
      etag: file.etag,
      // The name of an asset contains a hash of its content.
      "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
    };
    if (request.headers["if-none-match"] === file.etag) return void response.writeHead(304, headers).end();
    const { encoding, content } = encoded(file, String(request.headers["accept-encoding"] ?? ""));
    response.writeHead(200, {
      ...headers,
      "content-length": content.length,
      ...(encoding && { "content-encoding": encoding }),
    });
    response.end(method === "HEAD" ? undefined : content);
  }

  /** The package has the documentation beside the program. */
  async #document(path: string, method: string, response: ServerResponse): Promise<void> {
    for (const folder of DOCUMENT_FOLDERS) {
      const content = await readFile(folder + path).catch(() => undefined);
      if (!content) continue;
      const type = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" };
      response.writeHead(200, { ...HEADERS, ...type, "content-length": content.length });
      return void response.end(method === "HEAD" ? undefined : content);
    }
    end(response, 404, {});
  }

  #failed({ message }: Error): undefined {
    this.#files = undefined;
    if (this.#logged === message) return;
    this.#logged = message;
    this.#log.warn(`the console cannot be served: ${message}`);
  }
}

/** For the bundle, for a chunk of it, and for the source. */
const DOCUMENT_FOLDERS = ["..", "../..", "../../.."].map(beside);

function beside(folder: string): string {
  return fileURLToPath(new URL(folder, import.meta.url));
}

function encoded(
  file: ServedFile,
  accepts: string,
): { readonly encoding?: string; readonly content: Buffer } {
  const taken = new Set(
    accepts
      .toLowerCase()
      .split(",")
      .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
      .map((one) => one.split(";", 1)[0]?.trim()),
  );
  if (taken.has("br")) return { encoding: "br", content: file.br };
  if (taken.has("gzip")) return { encoding: "gzip", content: file.gzip };
  return { content: file.plain };
}

/** By path within the folder. Rejects with the reason if they cannot be read. */
async function readFiles(folders: readonly string[]): Promise<Files> {
  for (const folder of folders) {
    const names = await readdir(folder, { recursive: true }).catch(noneIfMissing);
    const served = names.map((name) => name.replaceAll("\\", "/")).filter((name) => extname(name) in TYPES);
    if (!served.includes("index.html")) continue;
    const files = served.map(async (name) => [name, await readServed(`${folder}/${name}`)] as const);
    return new Map(await Promise.all(files));
  }
  throw new Error(`there is no console in ${folders.join(", ")}`);
}

function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}

async function readServed(path: string): Promise<ServedFile> {
  const [plain, br, gzip] = await Promise.all([path, `${path}.br`, `${path}.gz`].map((one) => readFile(one)));
  if (!plain || !br || !gzip) throw new Error(`${path} cannot be read`);
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { etag, type: TYPES[extname(path)] ?? "", plain, br, gzip };
}

function unavailable(response: ServerResponse, method: string): void {
  const text = "The console cannot be served. The log of the gateway says why.\n";
  response.writeHead(503, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": text.length,
    "cache-control": "no-store",
  });
  response.end(method === "HEAD" ? undefined : text);
}

function end(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>): void {
  response.writeHead(status, { "content-length": 0, ...headers }).end();
}
