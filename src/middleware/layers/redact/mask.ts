/**
 * Masks what detectors find in the strings and numbers of a JSON value. Works on the bytes: parts without a
 * finding keep their bytes. Runs in steps of bounded time, so that a large value does not block the event
 * loop.
 */

import { withinTime } from "../../../catalog/within-time.ts";
import { asRaw, type Raw } from "../../../kernel/raw.ts";
import type { Span } from "../../../kernel/secret-forms.ts";
import { endOfString } from "../../../rpc/value-end.ts";
import type { Detector } from "./detectors.ts";
import { Place } from "./place.ts";
import { plainText } from "./plain-text.ts";

const QUOTE = 0x22;
const COLON = 0x3a;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
/**
 * Long texts are searched in windows that overlap. A match across a border is found only if it is at most as
 * long as the overlap.
 */
const WINDOW = 32_768;
const OVERLAP = 2_048;
/** Bytes between two steps. */
const STEP = 16_384;
/** Time limit of one step with patterns of administrators. */
const STEP_MS = 500;
/**
 * A match at the end of a window is searched again with this much text before it, such as the name of a
 * secret.
 */
const CONTEXT = 64;
const BASE64 = /^[\w+/-]+={0,2}$/;
const STRICT_BASE64 = /^[A-Za-z\d+/]+={0,2}$/;
/** Shorter texts are not searched for an encoded text. */
const SHORTEST_ENCODED = 16;
/** Shorter numbers are not personal data. */
const SHORTEST_NUMBER = 8;

export interface Masked {
  readonly raw: Raw;
  /** Names of the detectors that found something. */
  readonly found: ReadonlySet<string>;
}

export interface MaskOptions {
  readonly detectors: readonly Detector[];
  /** Shorter texts contain nothing that a detector finds. */
  readonly least: number;
  /** Values of members with the name of a secret are masked, whatever they look like. */
  readonly secretNames: boolean;
  /**
   * An administrator wrote one of the patterns. It is linear, but its factor is unknown, so steps have a time
   * limit.
   */
  readonly watched: boolean;
}

/** Yields between steps. */
export function* masking(raw: Raw, options: MaskOptions): Generator<void, Masked> {
  const found = new Set<string>();
  const written: Buffer[] = [];
  let parts: Buffer[] = [];
  let copied = 0;
  let stepAt = STEP;
  const place = new Place(options);
  const replace = (from: number, to: number, text: string): void => {
    parts.push(raw.subarray(copied, from), Buffer.from(JSON.stringify(text)));
    copied = to;
  };
  for (let i = 0; i < raw.length; ) {
    const c = raw[i] as number;
    if (c === QUOTE) {
      const end = endOfString(raw, i);
      if (end - i > STEP) yield;
      const text = decoded(raw, i, end);
      if (end - i > STEP) yield;
      if (raw[skipSpace(raw, end)] === COLON) place.enterMember(text);
      const secret = place.hidesText && !place.atName && text !== "";
      let masked = text;
      if (secret) {
        masked = "[secret]";
        found.add("secret");
      } else if (text.length >= SHORTEST_ENCODED && place.mayHoldBytes)
        masked = yield* maskedData(place, text, { options, found, raw, end });
      else if (text.length >= options.least) masked = yield* maskedText(text, options, found);
      if (masked !== text) replace(i, end, masked);
      place.passText(text);
      i = end;
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const end = endOfNumber(raw, i);
      const name = place.hidesNumber
        ? "secret"
        : end - i >= SHORTEST_NUMBER
          ? numberFound(raw.toString("latin1", i, end), options)
          : undefined;
      if (name !== undefined) {
        found.add(name);
        replace(i, end, `[${name}]`);
      }
      i = end;
    } else {
      if (c === OPEN_OBJECT || c === OPEN_ARRAY) place.open();
      else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) place.close();
      i++;
    }
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

interface TextToMask {
  readonly options: MaskOptions;
  readonly found: Set<string>;
  readonly raw: Raw;
  /** The end of the text in `raw`. */
  readonly end: number;
}

/**
 * Masks a text that may be base64: of a text, or of the bytes of an image, audio or file, which stay as they
 * are.
 */
function* maskedData(
  place: Place,
  text: string,
  { options, found, raw, end }: TextToMask,
): Generator<void, string> {
  const inside = textIn(text);
  if (inside === undefined && STRICT_BASE64.test(text) && place.holdsBytes(raw, end)) return text;
  const masked = yield* maskedText(text, options, found);
  if (masked !== text || inside === undefined) return masked;
  const decodedMasked = yield* maskedText(inside, options, found);
  return decodedMasked === inside ? text : Buffer.from(decodedMasked).toString("base64");
}

/** Masks one text. Yields between steps. */
export function* maskedText(
  text: string,
  { detectors }: MaskOptions,
  found: Set<string>,
): Generator<void, string> {
  const masked = new MaskedText(text, found);
  for (let from = 0; ; ) {
    const window = text.length <= WINDOW ? text : text.slice(from, from + WINDOW);
    let next = from + WINDOW - OVERLAP;
    const plain = plainText(window);
    const searched = plain?.text ?? window;
    for (const { name, find, least = 0 } of detectors) {
      if (window.length < least) continue;
      for (const seen of find(searched)) {
        const span = plain?.original(seen) ?? seen;
        masked.add({ from: from + span.from, to: from + span.to, name });
        // The match may continue in the next window.
        if (span.to === window.length) next = Math.min(next, from + span.from - CONTEXT);
      }
      if (window.length > STEP) yield;
    }
    if (from + WINDOW >= text.length) return masked.end();
    from = next > from ? next : from + WINDOW - OVERLAP;
    masked.writeUpTo(from);
  }
}

/** Decodes base64; undefined if the bytes are not UTF-8 text. The first bytes mostly show that. */
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

/**
 * The masked text. It is written in parts as the search advances, so that no step takes time for the whole
 * text.
 */
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

  /** No further match begins before `end`. */
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

/** Runs all steps at once, for small values. */
export function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Yields to the event loop between steps. Rejects if a step takes too long. */
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

function decoded(raw: Raw, from: number, end: number): string {
  const inner = raw.toString("utf8", from + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(`"${inner}"`) as string) : inner;
}

function endOfNumber(raw: Raw, i: number): number {
  while (i < raw.length && !/[\s,\]}]/.test(String.fromCharCode(raw[i] as number))) i++;
  return i;
}

function skipSpace(raw: Raw, i: number): number {
  while ((raw[i] as number) <= 0x20) i++;
  return i;
}
