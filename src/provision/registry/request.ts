/**
 * One GET request with limits on time, idle time, size and redirects. Sends no cookies, and the credential
 * only to the origin it is for.
 */
import type { Clock } from "../../kernel/clock.ts";
import { MetaMcpError } from "../../kernel/errors.ts";
import type { Signal } from "../../kernel/signal.ts";
import { VERSION } from "../../kernel/version.ts";

export type Fetch = typeof globalThis.fetch;

export interface Network {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export interface Request {
  readonly url: URL;
  readonly accept: string;
  readonly ifNoneMatch?: string | undefined;
  /** Sent only to the origin of `url`. */
  readonly authorization?: string | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: Signal | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Empty unless the status is 200. */
  readonly body: Buffer;
}

const MAX_REDIRECTS = 5;
const IDLE_TIMEOUT_MS = 20_000;

/**
 * Rejects with MetaMcpError if there is no answer. An answer with a status other than 200 does not reject.
 */
export async function get(request: Request, { fetch, clock }: Network): Promise<HttpAnswer> {
  const { timeoutMs, signal } = request;
  const abort = new AbortController();
  const stop = (error: unknown): void => abort.abort(error);
  const timeOut = (ms: number) => () =>
    stop(unavailable(request.url, `no answer within ${ms} ms`, "timeout"));
  const onAbort = (): void =>
    stop(signal?.reason ?? new MetaMcpError("cancelled", "The request was cancelled."));
  const end = clock.after(timeoutMs, timeOut(timeoutMs));
  let idle = clock.after(IDLE_TIMEOUT_MS, timeOut(IDLE_TIMEOUT_MS));
  const onData = (): void => {
    idle.cancel();
    idle = clock.after(IDLE_TIMEOUT_MS, timeOut(IDLE_TIMEOUT_MS));
  };
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  try {
    const response = await follow(request, fetch, abort.signal);
    onData();
    const body = response.status === 200 ? await bodyOf(response, request, onData) : Buffer.alloc(0);
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    if (abort.signal.aborted) throw abort.signal.reason;
    throw MetaMcpError.is(error) ? error : unavailable(request.url, causeOf(error));
  } finally {
    end.cancel();
    idle.cancel();
    signal?.removeEventListener("abort", onAbort);
    // Ends a body that was not read; has no effect after a complete answer.
    abort.abort();
  }
}

async function follow(request: Request, fetch: Fetch, signal: AbortSignal): Promise<Response> {
  let { url } = request;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await fetch(url.href, {
      headers: headersOf(request, url),
      redirect: "manual",
      credentials: "omit",
      signal,
    });
    const location = isRedirect(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    const secure = next?.protocol === "https:" && url.protocol === "https:";
    if (!next || !(secure || next.origin === url.origin)) {
      throw unavailable(url, "it redirects to another place without https");
    }
    url = next;
  }
  throw unavailable(request.url, "it redirects without end");
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function headersOf({ url, accept, ifNoneMatch, authorization }: Request, to: URL): Record<string, string> {
  return {
    accept,
    "user-agent": `metamcp/${VERSION}`,
    ...(ifNoneMatch && { "if-none-match": ifNoneMatch }),
    ...(authorization && to.origin === url.origin && { authorization }),
  };
}

/** Counts bytes after decompression, because a small answer can decompress to any size. */
async function bodyOf(response: Response, { url, maxBytes }: Request, onData: () => void): Promise<Buffer> {
  const tooLarge = (): MetaMcpError => unavailable(url, `its answer is larger than ${maxBytes} bytes`);
  if (Number(response.headers.get("content-length")) > maxBytes) throw tooLarge();
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    onData();
    size += part.byteLength;
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

export function unavailable(
  url: URL,
  why: string,
  code: "server_unavailable" | "timeout" = "server_unavailable",
): MetaMcpError {
  return new MetaMcpError(code, `${url.host}: ${why}`);
}

/** The cause behind "fetch failed", without the stack of the HTTP client. */
function causeOf(error: unknown): string {
  const { cause, message } = error as Error;
  if (!(cause instanceof Error)) return message;
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
}
