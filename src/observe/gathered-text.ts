/** Texts that wait to be sent together, as bytes: thousands of them on the heap would cost more in garbage collection than in making. */

/** Of UTF-8, for each unit of a text. */
const MOST_BYTES = 3;

export class GatheredText {
  #bytes: Buffer;
  #length = 0;

  /** `room`: for so many bytes; it grows where that is too little. */
  constructor(room: number) {
    this.#bytes = Buffer.allocUnsafeSlow(room);
  }

  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    const most = this.#length + text.length * MOST_BYTES;
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(most * 2);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** All of it; it is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.allocUnsafeSlow(this.#length);
    this.#bytes.copy(taken, 0, 0, this.#length);
    this.#length = 0;
    return taken;
  }
}
