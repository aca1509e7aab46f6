/**
 * Gets the documents of one API: from files, or over HTTP with the cache. Nothing is read outside of the
 * folder of a file, and no host but the document's own is asked.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { OpenApiSpec } from "../../config/spec.ts";
import type { Log } from "../../kernel/log.ts";
import { shownUrl } from "../../kernel/shown-url.ts";
import type { Authorize } from "../http/authorization.ts";
import { statusFailure } from "../http/failure.ts";
import { HttpClient, isSuccess } from "../http/http-client.ts";
import { ChildFailure } from "../link.ts";
import { readDecoded, Undecodable } from "./decoded-body.ts";
import { type CachedDocument, DocumentCache } from "./document-cache.ts";
import { hostLookup } from "./host-lookup.ts";

export interface SourceParts {
  readonly home: string;
  readonly log: Log;
  readonly authorize?: Authorize;
}

const MAX_BYTES = 64 * 1024 * 1024;
const NOT_MODIFIED = 304;

export class DocumentSource {
  /** The address of the root document. */
  readonly uri: string;
  readonly #spec: OpenApiSpec;
  readonly #log: Log;
  readonly #cache: DocumentCache;
  readonly #http: HttpClient | undefined;

  constructor(spec: OpenApiSpec, { home, log, authorize }: SourceParts) {
    const isFile = !/^https?:/i.test(spec.openapi);
    this.uri = isFile ? pathToFileURL(spec.openapi).href : new URL(spec.openapi).href;
    this.#spec = spec;
    this.#log = log;
    this.#cache = new DocumentCache(home, spec);
    if (isFile) return;
    // The credentials are for the API, which may be on another host than its document.
    const isSameHost = new URL(spec.openapi).origin === new URL(spec.url).origin;
    const { oauth: _, ...open } = spec;
    const asked = isSameHost ? spec : { ...open, headers: {}, oauth: undefined };
    const dialled = { ...asked, url: spec.openapi };
    this.#http = new HttpClient(
      dialled,
      isSameHost ? authorize && (() => authorize(spec)) : undefined,
      undefined,
      hostLookup(),
    );
  }

  async close(): Promise<void> {
    await this.#http?.close();
  }

  /** Rejects with ChildFailure, or with the reason why a document may not be read. */
  async load(uri: string, signal: AbortSignal): Promise<Buffer> {
    if (this.#http && new URL(uri).origin !== new URL(this.uri).origin)
      throw new Error(`only the host of its document is asked, and ${shownUrl(uri)} is on another one`);
    return this.#http ? await this.#fetch(this.#http, uri, signal) : await this.#file(uri);
  }

  async #file(uri: string): Promise<Buffer> {
    if (!uri.startsWith("file:")) throw new Error(`a document in a file cannot refer to ${shownUrl(uri)}`);
    const { openapi } = this.#spec;
    try {
      const path = fileURLToPath(uri);
      const [folder, real] = [dirname(await realpath(openapi)), await realpath(path)];
      if (uri !== this.uri && !real.startsWith(folder.endsWith(sep) ? folder : folder + sep))
        throw new Error(`${path} is outside of the folder of the document`);
      if ((await stat(real)).size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
      return await readFile(real);
    } catch (error) {
      if (uri !== this.uri) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code ?? message})`;
      throw new ChildFailure("offline", `the document ${openapi} ${why}`, { unsent: true, needsFix: true });
    }
  }

  async #fetch(http: HttpClient, uri: string, signal: AbortSignal): Promise<Buffer> {
    const cached = await this.#cache.read(uri);
    let response: Fetched;
    try {
      response = await fetched(http, uri, cached, signal);
    } catch (error) {
      const isPassing =
        error instanceof ChildFailure && (error.category === "offline" || error.category === "http");
      if (!cached || !isPassing || signal.aborted) throw error;
      this.#log.warn(
        `${this.#spec.name}: its document cannot be fetched, the last one is used: ${error.message}`,
      );
      return cached.bytes;
    }
    if (response === "unchanged") return (cached as CachedDocument).bytes;
    // Without a cache the document is fetched each time.
    await this.#cache.write(uri, response).catch((error: Error) => {
      this.#log.warn(`${this.#spec.name}: its document cannot be cached: ${error.message}`);
    });
    return response.bytes;
  }
}

type Fetched = CachedDocument | "unchanged";

function fetched(
  http: HttpClient,
  uri: string,
  cached: CachedDocument | undefined,
  signal: AbortSignal,
): Promise<Fetched> {
  const where = `the document ${shownUrl(uri)}`;
  return new Promise((resolve, reject) => {
    const headers = {
      accept: "application/vnd.oai.openapi+json, application/json, application/yaml, */*;q=0.5",
      ...(cached?.etag !== undefined && { "if-none-match": cached.etag }),
      ...(cached?.lastModified !== undefined && { "if-modified-since": cached.lastModified }),
    };
    const request = http.request(
      { method: "GET", headers, url: new URL(uri) },
      {
        onFailure: reject,
        onResponse: (response) => {
          if (response.statusCode === NOT_MODIFIED && cached) {
            response.resume();
            resolve("unchanged");
          } else if (isSuccess(response)) readDocument(response, where, resolve, reject);
          else {
            response.resume();
            reject(refusal(response, where));
          }
        },
      },
    );
    const abort = (): void => {
      request.abort();
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

function readDocument(
  response: IncomingMessage,
  where: string,
  resolve: (document: CachedDocument) => void,
  reject: (error: Error) => void,
): void {
  readDecoded(response, MAX_BYTES, (bytes) => {
    if (bytes === "too-large") reject(broken(`${where} has more than ${MAX_BYTES} bytes`));
    else if (bytes instanceof Undecodable) reject(broken(`${where} ${bytes.message}`));
    else if (bytes instanceof Error)
      reject(new ChildFailure("offline", `${where} was cut off: ${bytes.message}`));
    else {
      const { etag, "last-modified": lastModified } = response.headers;
      resolve({
        bytes,
        ...(etag !== undefined && { etag }),
        ...(lastModified !== undefined && { lastModified }),
      });
    }
  });
}

function refusal(response: IncomingMessage, where: string): ChildFailure {
  const { category, message, challenge, limited } = statusFailure(response, where);
  const plain = response.statusCode === 404 ? `${where} does not exist (404)` : message;
  const needsFix = category === "other" && limited === undefined;
  return new ChildFailure(category, plain, { unsent: true, needsFix, challenge, limited });
}

/** The document must be fixed first. */
export function broken(problem: string): ChildFailure {
  return new ChildFailure("other", problem, { unsent: true, needsFix: true });
}
