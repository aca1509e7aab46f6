/** Events a client may have missed, so that it can resume a broken stream. Bounded in bytes, in number and in time; the oldest go first. */
import { encodeEvent } from "../../rpc/event-stream.ts";

interface Logged {
  readonly stream: number;
  readonly seq: number;
  readonly at: number;
  /** As it went out. */
  readonly bytes: Buffer;
}

const MOST_BYTES = 1024 * 1024;
const MOST_EVENTS = 256;
const MOST_IN_ALL = 64 * 1024 * 1024;
const KEPT_MS = 300_000;

/** What the logs of all clients hold together. */
export class LogBudget {
  bytes = 0;
}

/** Ids are `stream-seq`: they name the stream, so that nothing of another one is ever replayed on it. */
export class EventLog {
  readonly #budget: LogBudget;
  #events: Logged[] = [];
  #bytes = 0;
  #lastSeq = 0;

  constructor(budget: LogBudget) {
    this.#budget = budget;
  }

  /** The event to write, with its id. */
  add(stream: number, data: readonly Buffer[], now: number): Buffer {
    const seq = ++this.#lastSeq;
    const bytes = Buffer.concat(encodeEvent(data, `${stream}-${seq}`));
    this.#events.push({ stream, seq, at: now, bytes });
    this.#count(bytes.length);
    while (this.#events.length > MOST_EVENTS || (this.#bytes > MOST_BYTES && this.#events.length > 1))
      this.#drop(1);
    // Who comes when there is no room goes without.
    while (this.#budget.bytes > MOST_IN_ALL && this.#events.length > 0) this.#drop(1);
    return bytes;
  }

  /** An id without an event: where a stream begins. */
  mark(stream: number): string {
    return `${stream}-${this.#lastSeq}`;
  }

  /** What came after `id` on its stream, ready to be written; undefined for what is no id. */
  after(id: string): { stream: number; events: Buffer[] } | undefined {
    const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
    if (!match) return undefined;
    const [stream, seq] = [Number(match[1]), Number(match[2])];
    const missed = this.#events.filter((event) => event.stream === stream && event.seq > seq);
    return { stream, events: missed.map(({ bytes }) => bytes) };
  }

  /** Nobody comes back for what is older than this. */
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
