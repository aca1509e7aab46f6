/** Finds the id of a message that is too long or too broken to be read, wherever the id stands. Keeps next to nothing and judges nothing else. */
import { asRaw, type Raw } from "../kernel/raw.ts";

/** Keys and ids longer than this are of no interest. */
const KEPT = 1_024;

export class Skim {
  #meant: "request" | "answer" | undefined;
  #id: Raw | undefined;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** At the top level: the key that was read, while its value goes by. */
  #key: string | undefined;
  /** Bytes of the key, or of the value of `id`. */
  #kept: number[] = [];

  get id(): Raw | undefined {
    return this.#id;
  }

  /** A message with a method is a request, whatever else it has. */
  get meant(): "request" | "answer" | undefined {
    return this.#meant;
  }

  push(chunk: Buffer): void {
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inString && !this.#keeps()) i = this.#skipText(chunk, i);
      const c = chunk[i];
      if (c !== undefined) this.#step(c);
    }
  }

  #keeps(): boolean {
    return this.#depth === 1 && (this.#key === undefined || this.#key === "id") && this.#kept.length <= KEPT;
  }

  /** To the next byte that means something inside a string. */
  #skipText(chunk: Buffer, i: number): number {
    while (!this.#escaped && i < chunk.length && chunk[i] !== 0x22 && chunk[i] !== 0x5c) i++;
    return i;
  }

  #step(c: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (c === 0x5c) this.#escaped = true;
      else if (c === 0x22) this.#inString = false;
    } else if (c === 0x22) this.#inString = true;
    else if (c === 0x7b || c === 0x5b) {
      if (++this.#depth === 1) return;
    } else if (c === 0x7d || c === 0x5d) {
      this.#depth = Math.max(0, this.#depth - 1);
      if (this.#depth === 0) this.#endMember();
    } else if (this.#depth === 1 && c === 0x3a) {
      if (this.#key === undefined) this.#endKey();
      return;
    } else if (this.#depth === 1 && c === 0x2c) {
      this.#endMember();
      return;
    }
    if (this.#keeps()) this.#kept.push(c);
  }

  #endKey(): void {
    const key = parsed(this.#kept);
    this.#key = typeof key === "string" ? key : "";
    this.#kept = [];
    if (key === "method") this.#meant = "request";
    else if (key === "result" || key === "error") this.#meant ??= "answer";
  }

  #endMember(): void {
    if (this.#key === "id") {
      const id = parsed(this.#kept);
      const usable = typeof id === "string" || typeof id === "number";
      this.#id = usable ? asRaw(Buffer.from(text(this.#kept).trim())) : undefined;
    }
    this.#key = undefined;
    this.#kept = [];
  }
}

function parsed(bytes: number[]): unknown {
  try {
    return JSON.parse(text(bytes));
  } catch {
    return undefined;
  }
}

function text(bytes: number[]): string {
  return Buffer.from(bytes).toString();
}
