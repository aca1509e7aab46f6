/**
 * Collects spans in pages and sends them in the background. Limited: spans that the collector does not accept
 * in time are lost and counted.
 */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { BatchQueue } from "../batch-queue.ts";
import { TextBuffer } from "../text-buffer.ts";
import { CollectorBusy, type SpanPage } from "./otlp.ts";

export interface SpanPagesParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves with the number of rejected spans. Must not read the pages after that. */
  readonly send: (pages: readonly SpanPage[]) => Promise<number>;
}

const PAGE_BYTES = 1_048_576;
/** Additional room, enough for most calls. */
const LAST_BYTES = 65_536;
const EVERY_MS = 250;
const MAX_QUEUED = 16_384;
const MAX_BYTES = 16 * PAGE_BYTES;
const CLOSE_MS = 3_000;

export class SpanPages {
  readonly #clock: Clock;
  readonly #queue: BatchQueue<SpanPage>;
  /** The current page: spans separated by commas. */
  readonly page = new TextBuffer(PAGE_BYTES + LAST_BYTES);
  #spans = 0;
  #timer: Timer | undefined;

  constructor({ clock, log, send }: SpanPagesParts) {
    this.#clock = clock;
    this.#queue = new BatchQueue({
      clock,
      write: async (pages) => {
        const refused = await send(pages);
        for (const { bytes } of pages) this.page.recycle(bytes);
        return refused;
      },
      retry: (error) => error instanceof CollectorBusy && (error.waitMs ?? true),
      onFault: (fault) =>
        fault === undefined ? log.info("traces are sent again") : log.warn(`traces cannot be sent: ${fault}`),
      countOf: ({ spans }) => spans,
      sizeOf: ({ bytes }) => bytes.length,
      mostInBatch: MAX_QUEUED,
      mostBytesInBatch: PAGE_BYTES,
      mostQueued: MAX_QUEUED,
      mostBytes: MAX_BYTES,
      everyMs: 0,
    });
  }

  get lost(): number {
    return this.#queue.lost;
  }

  /** Counts spans that were written to the page. */
  added(spans: number): void {
    this.#spans += spans;
    if (this.page.length >= PAGE_BYTES) this.#flush();
    else this.#timer ??= this.#clock.after(EVERY_MS, () => this.#flush());
  }

  /** Sends the remaining spans. */
  async close(): Promise<void> {
    this.#flush();
    await this.#queue.close(CLOSE_MS);
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#spans === 0) return;
    const bytes = this.page.take();
    if (!this.#queue.add({ bytes, spans: this.#spans })) this.page.recycle(bytes);
    this.#spans = 0;
  }
}
