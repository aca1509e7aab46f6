/**
 * Numbers the lines of a text. Compares bytes, because a string and a map entry for each of 50,000 lines
 * would take most of the time and of the memory of the first search.
 */
const NEWLINE = 0x0a;

export class LineTable {
  readonly #bytes: Uint8Array;
  /** Where each line begins; at the end, where a further one would. */
  readonly #starts: Uint32Array;
  /** Numbers of lines, by the hash of the line. A line whose slot is taken is in the next free one. */
  readonly #slots: Uint16Array | Uint32Array;
  readonly #free: number;

  /** `bytes`: ASCII, each line once. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    let lines = 1;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
    this.#starts = new Uint32Array(lines + 1);
    const slots = 2 ** Math.ceil(Math.log2(2 * lines));
    this.#slots = lines < 0xffff ? new Uint16Array(slots) : new Uint32Array(slots);
    // The largest number that fits.
    this.#free = this.#slots.fill(-1)[0] as number;
    let start = 0;
    for (let line = 0; line < lines; line++) {
      this.#starts[line] = start;
      start = this.#add(line, start) + 1;
    }
    this.#starts[lines] = start;
  }

  /** Returns where the line ends. */
  #add(line: number, start: number): number {
    const bytes = this.#bytes;
    let hash = SEED;
    let end = start;
    for (; end < bytes.length && bytes[end] !== NEWLINE; end++) hash = mixed(hash, bytes[end] as number);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== this.#free) slot = (slot + 1) & mask;
    this.#slots[slot] = line;
    return end;
  }

  /** -1 if no line is this text. */
  indexOf(text: string): number {
    let hash = SEED;
    for (let i = 0; i < text.length; i++) hash = mixed(hash, text.charCodeAt(i));
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const line = this.#slots[slot] as number;
      if (line === this.#free) return -1;
      if (this.#is(line, text)) return line;
    }
  }

  #is(line: number, text: string): boolean {
    const start = this.#starts[line] as number;
    if ((this.#starts[line + 1] as number) - start - 1 !== text.length) return false;
    for (let i = 0; i < text.length; i++) if (this.#bytes[start + i] !== text.charCodeAt(i)) return false;
    return true;
  }
}

/** FNV-1a. */
const SEED = 0x811c9dc5;
function mixed(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}
