/**
 * Keeps the last events of a client's streams, so that it can resume a broken one. Limited in bytes, number
 * and age; drops the oldest first.
 */
import { encodeEvent } from "../../rpc/event-stream.ts";

interface LoggedEvent {
  readonly stream: number;
  readonly seq: number;
  readonly at: number;
  /** The encoded event as it was written to the stream. */
  readonly bytes: Buffer;
}

const MAX_BYTES = 1024 * 1024;
const MAX_EVENTS = 256;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const KEPT_MS = 300_000;

/** Counts the bytes in the logs of all clients. */
export class LogBudget {
  bytes = 0;
}

/**
 * Event ids are `stream-seq`, and a tag if there are several replicas. They name the stream, so events of one
 * stream are never replayed on another.
 */
export class EventLog {
  readonly #budget: LogBudget;
  #events: LoggedEvent[] = [];
  #bytes = 0;
  #lastSeq = 0;

  constructor(budget: LogBudget) {
    this.#budget = budget;
  }

  /** Returns the encoded event, with its id. */
  add(stream: number, data: readonly Buffer[], now: number, tag = ""): Buffer {
    const seq = ++this.#lastSeq;
    const bytes = Buffer.concat(encodeEvent(data, `${stream}-${seq}${tag}`));
    this.#events.push({ stream, seq, at: now, bytes });
    this.#count(bytes.length);
    while (this.#events.length > MAX_EVENTS || (this.#bytes > MAX_BYTES && this.#events.length > 1))
      this.#drop(1);
    // When the shared budget is used up, the log that adds an event loses its own events.
    while (this.#budget.bytes > MAX_TOTAL_BYTES && this.#events.length > 0) this.#drop(1);
    return bytes;
  }

  /** Returns an id without an event, for the start of a stream. */
  mark(stream: number, tag = ""): string {
    return `${stream}-${this.#lastSeq}${tag}`;
  }

  /** Returns the encoded events after `id` on its stream, or undefined if `id` is not an event id. */
  after(id: string): { stream: number; events: Buffer[] } | undefined {
    const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
    if (!match) return undefined;
    const [stream, seq] = [Number(match[1]), Number(match[2])];
    const missed = this.#events.filter((event) => event.stream === stream && event.seq > seq);
    return { stream, events: missed.map(({ bytes }) => bytes) };
  }

  /** Drops events older than `KEPT_MS`. */
  expire(now: number): void {
    const kept = this.#events.findIndex(({ at }) => now - at < KEPT_MS);
    this.#drop(kept < 0 ? this.#events.length : kept);
  }

  clear(): void {
    this.#drop(this.#events.length);
  }

  #drop(count: number): void {
    for (const { bytes } of this.#events.splice(0, count)) this.#count(-bytes.length);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }
}
