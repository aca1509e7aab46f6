/**
 * Collects texts that are sent together, as bytes. Thousands of strings on the heap would cost more garbage
 * collection than making them.
 */

/** UTF-8 bytes per UTF-16 code unit, at most. */
const MAX_BYTES = 3;
const ZERO = 0x30;

export class TextBuffer {
  readonly #room: number;
  #bytes: Buffer;
  #length = 0;
  /** A buffer to reuse, because allocating memory costs more than writing to it. */
  #spare: Buffer | undefined;

  /** `room` is the initial size in bytes. The buffer grows if needed. */
  constructor(room: number) {
    this.#room = room;
    this.#bytes = Buffer.allocUnsafeSlow(room);
  }

  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#grow(text.length * MAX_BYTES);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Uint8Array): void {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Overwrites bytes with ASCII text. */
  put(at: number, text: string): void {
    for (let n = 0; n < text.length; n++) this.#bytes[at + n] = text.charCodeAt(n);
  }

  /** Overwrites bytes with the last digits of an integer below 2³¹. */
  putDigits(at: number, count: number, number: number): void {
    let rest = number | 0;
    for (let n = at + count - 1; n >= at; n--) {
      const tens = (rest / 10) | 0;
      this.#bytes[n] = ZERO + rest - tens * 10;
      rest = tens;
    }
  }

  /**
   * Returns the content and empties the buffer. A small content is copied, so that waiting data uses at most
   * twice its length.
   */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    const full = this.#length * 2 >= this.#bytes.length;
    this.#length = 0;
    if (!full) {
      const copy = Buffer.allocUnsafeSlow(taken.length);
      copy.set(taken);
      return copy;
    }
    this.#bytes = this.#spare ?? Buffer.allocUnsafeSlow(this.#room);
    this.#spare = undefined;
    return taken;
  }

  /** Reuses a buffer from `take` that is not read any more. */
  recycle({ buffer }: Buffer): void {
    if (buffer.byteLength === this.#room) this.#spare = Buffer.from(buffer);
  }

  #grow(more: number): void {
    const most = this.#length + more;
    if (most <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(most * 2);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
