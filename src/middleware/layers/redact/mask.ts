/**
 * Masks what detectors find in the texts of a JSON value. Works on the bytes: what holds nothing is the same bytes after
 * it. Comes in steps of bounded time, so that a large value does not keep everything else waiting.
 */

import { withinTime } from "../../../catalog/within-time.ts";
import { isPlainlySecretName } from "../../../kernel/looks-secret.ts";
import { asRaw, type Raw } from "../../../kernel/raw.ts";
import type { Detector, Span } from "./detectors.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What is looked at in one go, and by how much one goes into the next: nothing longer than that is found across the border. */
const WINDOW = 32_768;
const OVERLAP = 2_048;
/** Bytes between two steps. */
const STEP = 16_384;
/** One step of a pattern that somebody else wrote may not take longer. */
const STEP_MS = 500;
/** What stands before the end of one go and is looked at again with what follows: a name before a secret. */
const CONTEXT = 64;
const BASE64 = /^[\w+/-]+={0,2}$/;
/** Shorter numbers identify nobody. */
const SHORTEST_NUMBER = 8;

export interface Masked {
  readonly raw: Raw;
  /** Names of the detectors that found something. */
  readonly found: ReadonlySet<string>;
}

export interface MaskOptions {
  readonly detectors: readonly Detector[];
  /** Values of members that are called like secrets are secret, whatever they look like. */
  readonly secretNames: boolean;
  /** Somebody else wrote one of the patterns: in proportion to the text, but nobody knows by how much. */
  readonly watched: boolean;
}

/** Yields between steps. */
export function* masking(raw: Raw, options: MaskOptions): Generator<void, Masked> {
  const found = new Set<string>();
  const written: Buffer[] = [];
  let parts: Buffer[] = [];
  let copied = 0;
  let stepAt = STEP;
  const replace = (from: number, to: number, text: string): void => {
    parts.push(raw.subarray(copied, from), Buffer.from(JSON.stringify(text)));
    copied = to;
  };
  let key = "";
  for (let i = 0; i < raw.length; ) {
    const c = raw[i] as number;
    if (c === QUOTE) {
      const end = endOfText(raw, i);
      const isKey = raw[skipSpace(raw, end)] === 0x3a;
      const text = decoded(raw, i, end);
      if (isKey) key = text;
      const secret = !isKey && options.secretNames && text !== "" && isPlainlySecretName(key);
      const look = key === "blob" && !isKey ? maskedBlob : maskedText;
      const masked = secret ? "[secret]" : yield* look(text, key, options, found);
      if (secret) found.add("secret");
      if (masked !== text) replace(i, end, masked);
      i = end;
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const end = endOfNumber(raw, i);
      const name =
        end - i >= SHORTEST_NUMBER ? numberFound(raw.toString("latin1", i, end), options) : undefined;
      if (name !== undefined) {
        found.add(name);
        replace(i, end, `[${name}]`);
      }
      i = end;
    } else i++;
    if (i > stepAt) {
      stepAt = i + STEP;
      written.push(Buffer.concat(parts));
      parts = [];
      yield;
    }
  }
  if (copied === 0) return { raw, found };
  return { raw: asRaw(Buffer.concat([...written, ...parts, raw.subarray(copied)])), found };
}

/** The same for a text. */
export function* maskedText(
  text: string,
  key: string,
  { detectors }: MaskOptions,
  found: Set<string>,
): Generator<void, string> {
  if (isBinary(text, key)) return text;
  const masked = new MaskedText(text, found);
  for (let from = 0; ; ) {
    const window = text.length <= WINDOW ? text : text.slice(from, from + WINDOW);
    let next = from + WINDOW - OVERLAP;
    for (const { name, find, least = 0 } of detectors) {
      if (window.length < least) continue;
      for (const span of find(window)) {
        masked.add({ from: from + span.from, to: from + span.to, name });
        // It may go on behind the end.
        if (span.to === window.length) next = Math.min(next, from + span.from - CONTEXT);
      }
      if (window.length > STEP) yield;
    }
    if (from + WINDOW >= text.length) return masked.end();
    from = next > from ? next : from + WINDOW - OVERLAP;
    masked.writeUpTo(from);
  }
}

/** A resource may come as bytes that are a text. */
function* maskedBlob(
  text: string,
  key: string,
  options: MaskOptions,
  found: Set<string>,
): Generator<void, string> {
  const inside = textIn(text);
  if (inside === undefined) return yield* maskedText(text, key, options, found);
  const masked = yield* maskedText(inside, "", options, found);
  return masked === inside ? text : Buffer.from(masked).toString("base64");
}

/** Of base64. Undefined where it is something else, which mostly shows in the first bytes. */
function textIn(base64: string): string | undefined {
  if (!BASE64.test(base64)) return undefined;
  try {
    const utf8 = new TextDecoder("utf-8", { fatal: true });
    utf8.decode(Buffer.from(base64.slice(0, 1_024), "base64"), { stream: true });
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
  } catch {
    return undefined;
  }
}

interface Finding extends Span {
  readonly name: string;
}

/** Written as far as nothing can be found any more, so that no step grows with the whole text. */
class MaskedText {
  readonly #text: string;
  readonly #found: Set<string>;
  readonly #written: string[] = [];
  #findings: Finding[] = [];
  #at = 0;

  constructor(text: string, found: Set<string>) {
    this.#text = text;
    this.#found = found;
  }

  add(finding: Finding): void {
    this.#findings.push(finding);
  }

  /** Nothing more is found that begins before. */
  writeUpTo(end: number): void {
    const parts: string[] = [];
    const sorted = this.#findings.sort((a, b) => a.from - b.from || b.to - a.to);
    for (const { from, to, name } of sorted) {
      if (from >= end) break;
      this.#found.add(name);
      if (from >= this.#at) parts.push(this.#text.slice(this.#at, from), `[${name}]`);
      this.#at = Math.max(this.#at, to);
    }
    this.#findings = sorted.filter(({ from }) => from >= end);
    if (parts.length > 0) this.#written.push(parts.join(""));
  }

  end(): string {
    this.writeUpTo(Number.POSITIVE_INFINITY);
    return this.#at === 0 ? this.#text : this.#written.join("") + this.#text.slice(this.#at);
  }
}

/** In one go, for what is small. */
export function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Lets others run between the steps. Rejects where one of them takes too long. */
export async function finishLater<T>(steps: Generator<void, T>, { watched }: MaskOptions): Promise<T> {
  for (;;) {
    const { done, value } = watched ? withinTime(STEP_MS, () => steps.next()) : steps.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function numberFound(digits: string, { detectors }: MaskOptions): string | undefined {
  return detectors.find(({ numbers, find }) => numbers && find(digits).length > 0)?.name;
}

/** Pictures, sound and files as blocks of content have them: no text to look into, and to change it would break it. */
function isBinary(text: string, key: string): boolean {
  return (key === "data" || key === "blob") && text.length > 256 && BASE64.test(text);
}

function decoded(raw: Raw, from: number, end: number): string {
  const inner = raw.toString("utf8", from + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(`"${inner}"`) as string) : inner;
}

function endOfText(raw: Raw, i: number): number {
  for (i++; raw[i] !== QUOTE; i++) if (raw[i] === BACKSLASH) i++;
  return i + 1;
}

function endOfNumber(raw: Raw, i: number): number {
  while (i < raw.length && !/[\s,\]}]/.test(String.fromCharCode(raw[i] as number))) i++;
  return i;
}

function skipSpace(raw: Raw, i: number): number {
  while ((raw[i] as number) <= 0x20) i++;
  return i;
}
