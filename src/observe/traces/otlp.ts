/** Sends spans to a collector: OTLP over HTTP in JSON. Loaded only where one is named. */

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

/** Resolves with how many spans the collector did not want. */
export function otlpSender(settings: OtlpSettings): (pages: readonly SpanPage[]) => Promise<number> {
  const { url, headers, timeoutMs, resource, version } = settings;
  const scope = JSON.stringify({ name: "metamcp", version });
  const before = `{"resourceSpans":[{"resource":{"attributes":${resource}},"scopeSpans":[{"scope":${scope},"spans":[`;
  return async (pages) => {
    const parts = pages.flatMap(({ bytes }) => [COMMA, bytes]).slice(1);
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: Buffer.concat([Buffer.from(before), ...parts, AFTER]),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    }).catch((error: Error) => {
      throw new CollectorBusy(`the collector cannot be reached: ${error.message}`);
    });
    const text = await beginningOf(answer);
    if (answer.ok) return Math.min(refusedIn(text), spansOn(pages));
    const told = `the collector answered ${answer.status}`;
    if (!AGAIN.has(answer.status)) throw new Error(told);
    throw new CollectorBusy(told, waitIn(answer.headers.get("retry-after")));
  };
}

function spansOn(pages: readonly SpanPage[]): number {
  return pages.reduce((sum, { spans }) => sum + spans, 0);
}

/** Read to the end, or the connection is not free for the next batch; one that does not end is cut. */
async function beginningOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of body ?? []) {
      length += part.length;
      if (length > MOST_ANSWER) break;
      parts.push(part);
    }
  } catch {
    // Its status has been read, and says what became of the spans.
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
function waitIn(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : undefined;
}
