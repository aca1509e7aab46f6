/** What one run says while it goes on: logs and progress, cut and thinned out here, so that no code can flood anybody. */
import { clearTimeout, setTimeout } from "node:timers";
import type { LogLine } from "../executor.ts";
import type { FromHost } from "../frames.ts";

/** Progress is shown to people: more often than this it is noise. */
const PROGRESS_MS = 100;
const MOST_LINES = 1_000;
const LONGEST_MESSAGE = 1_000;
const CUT = " … (later logs are not kept)";

type ProgressFrame = Extract<FromHost, { type: "progress" }>;

export class Reports {
  readonly #id: number;
  readonly #send: (frame: FromHost) => void;
  /** Bytes of logs that it may still write. */
  #room: number;
  #lines = 0;
  #progressAt = 0;
  /** The last one that came too soon. */
  #held: ProgressFrame | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, logBytes: number, send: (frame: FromHost) => void) {
    this.#id = id;
    this.#room = logBytes;
    this.#send = send;
  }

  log(level: LogLine["level"], text: string): void {
    if (this.#room <= 0 || this.#lines >= MOST_LINES) return;
    const shown = firstBytes(text, this.#room);
    this.#room -= Buffer.byteLength(shown) + 1;
    const full = ++this.#lines >= MOST_LINES || this.#room <= 0 || shown.length < text.length;
    if (full) this.#room = 0;
    this.#send({ type: "log", id: this.#id, level, text: full ? `${shown}${CUT}` : shown });
  }

  progress(json: string): void {
    const { done, total, message } = JSON.parse(json) as { done: number; total?: number; message?: string };
    if (!Number.isFinite(done)) return;
    this.#held = {
      type: "progress",
      id: this.#id,
      done,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: message.slice(0, LONGEST_MESSAGE) }),
    };
    const wait = this.#progressAt - performance.now();
    if (wait <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), wait);
  }

  /** The last word is never lost. */
  end(): void {
    clearTimeout(this.#timer);
    this.#flush();
  }

  #flush(): void {
    this.#timer = undefined;
    if (!this.#held) return;
    this.#send(this.#held);
    this.#held = undefined;
    this.#progressAt = performance.now() + PROGRESS_MS;
  }
}

/** No half character at the end. */
function firstBytes(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text.slice(0, most));
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}
