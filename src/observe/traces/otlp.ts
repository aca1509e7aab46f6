/** Sends spans to a collector: OTLP over HTTP in JSON. Loaded only where one is named. */
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";

/** Spans as bytes of JSON, with commas between them. */
export interface SpanPage {
  readonly bytes: Buffer;
  readonly spans: number;
}

export interface OtlpSettings {
  /** Where spans are posted to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Its attributes, as JSON. */
  readonly resource: string;
  readonly version: string;
}

/** The collector may take it later. */
export class CollectorBusy extends Error {
  override readonly name = "CollectorBusy";
  /** How long it asked to be left alone. */
  readonly waitMs: number | undefined;

  constructor(reason: string, waitMs?: number) {
    super(reason);
    this.waitMs = waitMs;
  }
}

/** As the specification says: these may be sent again, others never. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** What a collector answers is short; no more of it is read. */
const MOST_ANSWER = 65_536;
const LONGEST_WAIT_MS = 300_000;
const COMMA = Buffer.from(",");
const AFTER = Buffer.from("]}]}]}");

/** Resolves with how many spans the collector did not want. Nothing reads the pages any more once it has settled. */
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
    const told = `the collector answered ${status}`;
    if (!AGAIN.has(status)) throw new Error(told);
    throw new CollectorBusy(told, waitIn(retryAfter));
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

/** By `node:http`, which keeps the connection and writes the parts as they are: `fetch` copies them, and costs a ms each time. */
function post({ url, headers, timeoutMs }: OtlpSettings, parts: readonly Buffer[]): Promise<Answer> {
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
      void beginningOf(response).then((text) => {
        // One that answers without having read all of it gets no more.
        if (!request.writableFinished) request.destroy();
        const { statusCode: status = 0, headers: told } = response;
        resolve({ status, text, retryAfter: told["retry-after"] });
      });
    });
    // Whatever happens to it after its status, that says what became of the spans.
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

/** Read to the end, or the connection is not free for the next batch; one that does not end is cut. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > MOST_ANSWER) break;
      parts.push(part);
    }
  } catch {
    // It was cut: what came of it is all there is.
  }
  return Buffer.concat(parts).toString();
}

/** `partialSuccess` of the answer: they must not be sent again. */
function refusedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } };
    const count = Number(partialSuccess?.rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

/** Seconds, or a date. */
function waitIn(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : undefined;
}
