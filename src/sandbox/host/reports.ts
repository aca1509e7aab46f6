/**
 * Sends the logs and progress of one run. Limits their size and rate, so that code cannot flood the gateway.
 */
import { clearTimeout, setTimeout } from "node:timers";
import type { LogLine } from "../executor.ts";
import type { FromHost } from "../frames.ts";

/** Minimum interval between progress frames. People cannot read faster updates. */
const PROGRESS_MS = 100;
const MAX_LINES = 1_000;
const LONGEST_MESSAGE = 1_000;
const CUT_NOTE = " … (later logs are not kept)";

type ProgressFrame = Extract<FromHost, { type: "progress" }>;

export class Reports {
  readonly #id: number;
  readonly #send: (frame: FromHost) => void;
  /** Bytes of logs that are still allowed. */
  #bytesLeft: number;
  #lines = 0;
  /** Time from which the next progress frame may be sent. */
  #progressFrom = 0;
  /** The latest progress that was not sent yet. */
  #pending: ProgressFrame | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, logBytes: number, send: (frame: FromHost) => void) {
    this.#id = id;
    this.#bytesLeft = logBytes;
    this.#send = send;
  }

  log(level: LogLine["level"], text: string): void {
    if (this.#bytesLeft <= 0 || this.#lines >= MAX_LINES) return;
    const shown = firstBytes(text, this.#bytesLeft);
    this.#bytesLeft -= Buffer.byteLength(shown) + 1;
    const full = ++this.#lines >= MAX_LINES || this.#bytesLeft <= 0 || shown.length < text.length;
    if (full) this.#bytesLeft = 0;
    this.#send({ type: "log", id: this.#id, level, text: full ? `${shown}${CUT_NOTE}` : shown });
  }

  progress(json: string): void {
    const { done, total, message } = JSON.parse(json) as { done: number; total?: number; message?: string };
    if (!Number.isFinite(done)) return;
    this.#pending = {
      type: "progress",
      id: this.#id,
      done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: message.slice(0, LONGEST_MESSAGE) }),
    };
    const wait = this.#progressFrom - performance.now();
    if (wait <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), wait);
  }

  /** Sends the latest progress, so that the final value is never lost. */
  end(): void {
    clearTimeout(this.#timer);
    this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    if (!this.#pending) return;
    this.#send(this.#pending);
    this.#pending = undefined;
    this.#progressFrom = performance.now() + PROGRESS_MS;
  }
}

/** The first bytes of a text, without an incomplete character at the end. */
function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
