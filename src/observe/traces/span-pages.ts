/** Gathers spans to pages and sends those, beside the calls. Bounded: what the collector does not take in time is lost, and counted. */
import type { Clock, Timer } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import { BatchQueue } from "../batch-queue.ts";
import { GatheredText } from "../gathered-text.ts";
import { CollectorBusy, type SpanPage } from "./otlp.ts";

export interface SpanPagesParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves with how many spans the collector did not want. */
  readonly send: (pages: readonly SpanPage[]) => Promise<number>;
}

const PAGE_BYTES = 1_048_576;
const EVERY_MS = 250;
const BATCH = 2_048;
const MOST_QUEUED = 16_384;
const CLOSE_MS = 3_000;

export class SpanPages {
  readonly #clock: Clock;
  readonly #queue: BatchQueue<SpanPage>;
  readonly #page = new GatheredText(PAGE_BYTES);
  #spans = 0;
  #timer: Timer | undefined;

  constructor({ clock, log, send }: SpanPagesParts) {
    this.#clock = clock;
    this.#queue = new BatchQueue({
      clock,
      write: send,
      again: (error) => error instanceof CollectorBusy && (error.waitMs ?? true),
      onFault: (fault) =>
        fault === undefined ? log.info("traces are sent again") : log.warn(`traces cannot be sent: ${fault}`),
      countOf: ({ spans }) => spans,
      // What stands in a span is bounded in length: their number says enough.
      sizeOf: ({ spans }) => spans,
      mostInBatch: BATCH,
      mostBytesInBatch: BATCH,
      mostQueued: MOST_QUEUED,
      mostBytes: MOST_QUEUED,
      everyMs: 0,
    });
  }

  get lost(): number {
    return this.#queue.lost;
  }

  /** `text`: of so many spans. */
  add(text: string, spans: number): void {
    this.#page.add(this.#spans === 0 ? text : `,${text}`);
    this.#spans += spans;
    if (this.#page.length >= PAGE_BYTES) this.#turn();
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
    this.#queue.add({ bytes: this.#page.take(), spans: this.#spans });
    this.#spans = 0;
  }
}
