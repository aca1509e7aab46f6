/** Sends spans to a collector: OTLP over HTTP in JSON. Loaded only if a collector is configured. */
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";

/** Spans as JSON bytes, separated by commas. */
export interface SpanPage {
  readonly bytes: Buffer;
  readonly spans: number;
}

export interface OtlpSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The attributes of the resource, as JSON. */
  readonly resource: string;
  readonly version: string;
}

/** The request failed, but can be retried. */
export class CollectorBusy extends Error {
  override readonly name = "CollectorBusy";
  /** The wait that the collector asked for. */
  readonly waitMs: number | undefined;

  constructor(reason: string, waitMs?: number) {
    super(reason);
    this.waitMs = waitMs;
  }
}

/** By the specification only these are retried. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Responses of collectors are short. Not more than this is read. */
const MAX_RESPONSE_BYTES = 65_536;
const LONGEST_WAIT_MS = 300_000;
const COMMA = Buffer.from(",");
const AFTER = Buffer.from("]}]}]}");

/**
 * Resolves with the number of spans that the collector rejected. The pages are not read any more after that.
 */
export function otlpSender(settings: OtlpSettings): (pages: readonly SpanPage[]) => Promise<number> {
  const { resource, version } = settings;
  const scope = JSON.stringify({ name: "metamcp", version });
  const before = Buffer.from(
    `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[`,
  );
  return async (pages) => {
    const parts = pages.flatMap(({ bytes }) => [COMMA, bytes]).slice(1);
    const { status, text, retryAfter } = await post(settings, [before, ...parts, AFTER]);
    if (status >= 200 && status < 300) return Math.min(refusedIn(text), spansOn(pages));
    const reason = `the collector answered ${status}`;
    if (!RETRYABLE.has(status)) throw new Error(reason);
    throw new CollectorBusy(reason, waitIn(retryAfter));
  };
}

interface CollectorResponse {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/**
 * Uses `node:http`, which keeps the connection and writes the parts without copying. `fetch` copies them and
 * costs 1 ms per request.
 */
function post(
  { url, headers, timeoutMs }: OtlpSettings,
  parts: readonly Buffer[],
): Promise<CollectorResponse> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const send = url.startsWith("https:") ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers, "content-length": length },
      signal: AbortSignal.timeout(timeoutMs),
    });
    let answered = false;
    request.once("response", (response) => {
      answered = true;
      void readLimited(response).then((text) => {
        // The collector answered before it read everything. The rest is not sent.
        if (!request.writableFinished) request.destroy();
        const { statusCode: status = 0, headers: responseHeaders } = response;
        resolve({ status, text, retryAfter: responseHeaders["retry-after"] });
      });
    });
    // After the status has arrived, it alone decides about the spans. Later errors are ignored.
    request.on("error", ({ message }) => {
      if (!answered) reject(new CollectorBusy(`the collector cannot be reached: ${message}`));
    });
    for (const part of parts) request.write(part);
    request.end();
  });
}

function spansOn(pages: readonly SpanPage[]): number {
  return pages.reduce((sum, { spans }) => sum + spans, 0);
}

/**
 * Reads the response to the end, because otherwise the connection cannot be reused. A response that is too
 * long is cut off.
 */
async function readLimited(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MAX_RESPONSE_BYTES) break;
      parts.push(part);
    }
  } catch {
    // The connection broke. The received part is used.
  }
  return Buffer.concat(parts).toString();
}

/** The rejected spans in `partialSuccess`. They must not be sent again. */
function refusedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } };
    const count = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

/** The header has seconds or a date. */
function waitIn(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : undefined;
}
