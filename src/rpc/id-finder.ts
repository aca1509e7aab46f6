/**
 * Finds the id of a message that is too long or invalid, at any position in it. Keeps almost nothing in
 * memory and validates nothing.
 */
import { isUtf8 } from "node:buffer";
import { asRaw, type Raw } from "../kernel/raw.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Longer keys and ids are ignored. */
const MAX_KEPT = 1_024;

/** A message has six members. After this many the search ends: each costs much more than its bytes. */
const MAX_MEMBERS = 1_000;

/** By byte: whether it is a structural character of JSON outside of strings. */
const STRUCTURE = new Uint8Array(256);
for (const c of Buffer.from('"{}[]:,')) STRUCTURE[c] = 1;

export class IdFinder {
  #meant: "request" | "answer" | undefined;
  #id: Raw | undefined;
  #depth = 0;
  #members = 0;
  #inString = false;
  #escaped = false;
  /** The key of the top-level member whose value is being read. */
  #key: string | undefined;
  /** The text of a top-level key or of the value of `id`, in Latin-1. */
  #kept = "";

  get id(): Raw | undefined {
    return this.#id;
  }

  /** A message with a method is a request, whatever else it has. */
  get meant(): "request" | "answer" | undefined {
    return this.#meant;
  }

  push(chunk: Buffer): void {
    for (let i = 0; i < chunk.length && this.#members <= MAX_MEMBERS; ) {
      if (this.#inString) i = this.#inside(chunk, i);
      else i = this.#depth > 1 ? this.#deep(chunk, i) : this.#outside(chunk, i);
    }
  }

  /** Reads to the end of the string. */
  #inside(chunk: Buffer, from: number): number {
    let escaped = this.#escaped;
    let i = from;
    while (i < chunk.length) {
      const c = chunk[i++];
      if (escaped) escaped = false;
      else if (c === BACKSLASH) escaped = true;
      else if (c === QUOTE) {
        this.#inString = false;
        break;
      }
    }
    this.#escaped = escaped;
    this.#keep(chunk, from, i);
    return i;
  }

  /** Reads to the next string, or to the end of the value at the top level. */
  #deep(chunk: Buffer, from: number): number {
    let depth = this.#depth;
    let i = from;
    while (i < chunk.length && depth > 1) {
      const c = chunk[i++] as number;
      if (c === QUOTE) {
        this.#inString = true;
        break;
      }
      // [ and { differ only in bit 5, and so do ] and }.
      const bracket = c | 0x20;
      if (bracket === 0x7b) depth++;
      else if (bracket === 0x7d) depth--;
    }
    this.#depth = depth;
    return i;
  }

  /** Reads to the byte after the next structural character. */
  #outside(chunk: Buffer, from: number): number {
    let i = from;
    while (i < chunk.length && STRUCTURE[chunk[i] as number] === 0) i++;
    this.#keep(chunk, from, i);
    const c = chunk[i];
    if (c === QUOTE) {
      this.#keep(chunk, i, i + 1);
      this.#inString = true;
    } else if (c === 0x7b || c === 0x5b) {
      this.#keep(chunk, i, i + 1);
      // An array is no message.
      if (this.#depth === 0 && c === 0x5b) this.#members = Number.POSITIVE_INFINITY;
      this.#depth++;
    } else if (c === 0x7d || c === 0x5d) {
      this.#depth = Math.max(0, this.#depth - 1);
      if (this.#depth === 0) this.#endMember();
    } else if (this.#depth === 1 && c === 0x3a) this.#endKey();
    else if (this.#depth === 1 && c === 0x2c) this.#endMember();
    return i + 1;
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#depth !== 1 || this.#kept.length > MAX_KEPT) return;
    if (this.#key === undefined || this.#key === "id") {
      this.#kept += chunk.toString("latin1", from, Math.min(to, from + MAX_KEPT + 1));
    }
  }

  #endKey(): void {
    const key = this.#parse();
    this.#key = typeof key === "string" ? key : "";
    this.#kept = "";
    if (key === "method") this.#meant = "request";
    else if (key === "result" || key === "error") this.#meant ??= "answer";
  }

  #endMember(): void {
    this.#members++;
    if (this.#key === "id") {
      const id = this.#parse();
      const usable = typeof id === "string" || typeof id === "number";
      this.#id = usable ? asRaw(Buffer.from(this.#kept.trim(), "latin1")) : undefined;
    }
    this.#key = undefined;
    this.#kept = "";
  }

  #parse(): unknown {
    const bytes = Buffer.from(this.#kept, "latin1");
    try {
      return isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
    } catch {
      return undefined;
    }
  }
}
