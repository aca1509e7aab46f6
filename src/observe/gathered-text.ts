/** Texts that wait to be sent together, as bytes: thousands of them on the heap would cost more in garbage collection than in making. */

/** Of UTF-8, for each unit of a text. */
const MOST_BYTES = 3;
const ZERO = 0x30;

export class GatheredText {
  readonly #room: number;
  #bytes: Buffer;
  #length = 0;
  /** To go on with: fresh memory costs more than what is written into it. */
  #spare: Buffer | undefined;

  /** `room`: for so many bytes; it grows where that is too little. */
  constructor(room: number) {
    this.#room = room;
    this.#bytes = Buffer.allocUnsafeSlow(room);
  }

  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#grow(text.length * MOST_BYTES);
    this.#length += this.#bytes.write(text, this.#length);
  }

  addBytes(bytes: Uint8Array): void {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Letters of ASCII in place of those that stand there. */
  put(at: number, text: string): void {
    for (let n = 0; n < text.length; n++) this.#bytes[at + n] = text.charCodeAt(n);
  }

  /** The same of the last digits of a whole number below 2³¹. */
  putDigits(at: number, count: number, number: number): void {
    let rest = number | 0;
    for (let n = at + count - 1; n >= at; n--) {
      const tens = (rest / 10) | 0;
      this.#bytes[n] = ZERO + rest - tens * 10;
      rest = tens;
    }
  }

  /** All of it; it is empty afterwards. What takes little of its room is copied, so that what waits takes no more than twice its length. */
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

  /** Nobody reads any more what was taken. */
  giveBack({ buffer }: Buffer): void {
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
