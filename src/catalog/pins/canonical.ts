/**
 * Turns JSON into a canonical form: sorted keys, no white space, uniform escapes; numbers stay as written.
 * Throws on invalid JSON and always terminates.
 */
import type { Raw } from "../../kernel/raw.ts";

/** Deeper than any usual schema. Deeper values stay as written. */
const MAX_DEPTH = 100;
const WORD = /[^\s,\]}]+/y;

/** Of duplicate keys the last one wins, as in JSON.parse. */
export function canonical(raw: Raw): string {
  return new Reader(raw.toString()).value(MAX_DEPTH);
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): string {
    const first = this.#next();
    if (first === '"') return this.#string();
    if (first !== "{" && first !== "[") return this.#word();
    if (depth === 0) return this.#asWritten();
    return first === "{" ? this.#object(depth - 1) : this.#array(depth - 1);
  }

  #object(depth: number): string {
    const members = new Map<string, string>();
    for (this.#at++; this.#next() !== "}"; ) {
      const key = this.#string();
      this.#skip(":");
      members.set(key, this.value(depth));
      this.#skip(",");
    }
    this.#at++;
    const keys = [...members.keys()].sort();
    return `{${keys.map((key) => `${key}:${members.get(key)}`).join(",")}}`;
  }

  #array(depth: number): string {
    const elements: string[] = [];
    for (this.#at++; this.#next() !== "]"; ) {
      elements.push(this.value(depth));
      this.#skip(",");
    }
    this.#at++;
    return `[${elements.join(",")}]`;
  }

  /** A string without escapes is already canonical. */
  #string(): string {
    const from = this.#at;
    let escaped = false;
    for (this.#at++; this.#text[this.#at] !== '"'; this.#at++) {
      if (this.#at >= this.#text.length) throw new Error("a text does not end");
      if (this.#text[this.#at] !== "\\") continue;
      escaped = true;
      this.#at++;
    }
    const written = this.#text.slice(from, ++this.#at);
    return escaped ? JSON.stringify(JSON.parse(written)) : written;
  }

  #word(): string {
    WORD.lastIndex = this.#at;
    const [word = ""] = WORD.exec(this.#text) ?? [];
    if (word === "") throw new Error("a value is missing");
    this.#at += word.length;
    return word;
  }

  #asWritten(): string {
    const from = this.#at;
    let open = 0;
    do {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Error("a value does not end");
      if (character === '"') this.#string();
      else {
        if (character === "{" || character === "[") open++;
        else if (character === "}" || character === "]") open--;
        this.#at++;
      }
    } while (open > 0);
    return this.#text.slice(from, this.#at);
  }

  /** Skips white space and returns the next character. */
  #next(): string | undefined {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at++;
    return this.#text[this.#at];
  }

  #skip(separator: string): void {
    if (this.#next() === separator) this.#at++;
    this.#next();
  }
}
