/** Gathers spans to pages and sends those, beside the calls. Bounded: what the collector does not take in time is lost, and counted. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { BatchQueue } from "../batch-queue.ts";
import { GatheredText } from "../gathered-text.ts";
import { CollectorBusy, type SpanPage } from "./otlp.ts";

export interface SpanPagesParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves with how many spans the collector did not want; reads the pages no more from then on. */
  readonly send: (pages: readonly SpanPage[]) => Promise<number>;
}

const PAGE_BYTES = 1_048_576;
/** What one call may write beyond it, mostly. */
const LAST_BYTES = 65_536;
const EVERY_MS = 250;
const MOST_QUEUED = 16_384;
const MOST_BYTES = 16 * PAGE_BYTES;
const CLOSE_MS = 3_000;

export class SpanPages {
  readonly #clock: Clock;
  readonly #queue: BatchQueue<SpanPage>;
  /** The one that is written at the moment: spans with commas between them. */
  readonly page = new GatheredText(PAGE_BYTES + LAST_BYTES);
  #spans = 0;
  #timer: Timer | undefined;

  constructor({ clock, log, send }: SpanPagesParts) {
    this.#clock = clock;
    this.#queue = new BatchQueue({
      clock,
      write: async (pages) => {
        const refused = await send(pages);
        for (const { bytes } of pages) this.page.giveBack(bytes);
        return refused;
      },
      again: (error) => error instanceof CollectorBusy && (error.waitMs ?? true),
      onFault: (fault) =>
        fault === undefined ? log.info("traces are sent again") : log.warn(`traces cannot be sent: ${fault}`),
      countOf: ({ spans }) => spans,
      sizeOf: ({ bytes }) => bytes.length,
      mostInBatch: MOST_QUEUED,
      mostBytesInBatch: PAGE_BYTES,
      mostQueued: MOST_QUEUED,
      mostBytes: MOST_BYTES,
      everyMs: 0,
    });
  }

  get lost(): number {
    return this.#queue.lost;
  }

  /** So many more are on the page. */
  wrote(spans: number): void {
    this.#spans += spans;
    if (this.page.length >= PAGE_BYTES) this.#turn();
    else this.#timer ??= this.#clock.after(EVERY_MS, () => this.#turn());
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    this.#turn();
    await this.#queue.close(CLOSE_MS);
  }

  #turn(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#spans === 0) return;
    const bytes = this.page.take();
    if (!this.#queue.add({ bytes, spans: this.#spans })) this.page.giveBack(bytes);
    this.#spans = 0;
  }
}
