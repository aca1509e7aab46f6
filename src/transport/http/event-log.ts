/** Events a client may have missed, so that it can resume a broken stream. Bounded in bytes; the oldest go first. */

interface Logged {
  readonly stream: number;
  readonly seq: number;
  readonly data: Buffer;
}

const MOST_BYTES = 1024 * 1024;
const MOST_EVENTS = 256;

/** Ids are `stream-seq`: they name the stream, so that nothing of another one is ever replayed on it. */
export class EventLog {
  #events: Logged[] = [];
  #bytes = 0;
  #lastSeq = 0;

  add(stream: number, data: Buffer): string {
    const seq = ++this.#lastSeq;
    this.#events.push({ stream, seq, data });
    this.#bytes += data.length;
    while (this.#events.length > MOST_EVENTS || (this.#bytes > MOST_BYTES && this.#events.length > 1)) {
      this.#bytes -= this.#events.shift()?.data.length ?? 0;
    }
    return `${stream}-${seq}`;
  }

  /** An id without an event: where a stream begins. */
  mark(stream: number): string {
    return `${stream}-${this.#lastSeq}`;
  }

  /** What came after `id` on its stream; undefined for an id that is not ours. */
  after(id: string): { stream: number; events: { id: string; data: Buffer }[] } | undefined {
    const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
    if (!match) return undefined;
    const [stream, seq] = [Number(match[1]), Number(match[2])];
    const missed = this.#events.filter((event) => event.stream === stream && event.seq > seq);
    return { stream, events: missed.map((event) => ({ id: `${stream}-${event.seq}`, data: event.data })) };
  }
}
