/**
 * What most messages look like, as patterns. A pattern is machine code from its second use on, where a loop over bytes
 * takes hundreds of messages to become that: loops are for what is long, deep, or written in another way.
 * In each pattern the next letter decides what follows, so that what does not match is given up after one walk.
 */

/** Bytes up to which a pattern is as fast as a loop that is compiled. */
export const SHORT = 1_024;
/** Objects and arrays within each other; each doubles the pattern. */
const DEPTH = 4;

const KEY = String.raw`"[^"\\\0-\x1f]*"`;
const STRING = String.raw`"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const PLAIN = `${STRING}|${NUMBER}|true|false|null`;

/** An object of valid JSON, without spaces. */
function objectPattern(): string {
  let object = "";
  let value = PLAIN;
  for (let depth = 0; depth < DEPTH; depth++) {
    object = String.raw`\{(?:${KEY}:(?:${value})(?:,(?=")|(?=\})))*\}`;
    const array = String.raw`\[(?:(?:${value})(?:,(?!\])|(?=\])))*\]`;
    value = `${object}|${array}|${PLAIN}`;
  }
  return object;
}

const ID = String.raw`([1-9]\d{0,14}|0|${KEY})`;
const METHOD = String.raw`"method":"([ !#-[\]-~]*)","params"`;

/** A request or a result with id and version before or behind. Groups: id before, method, payload, id behind. */
export const ENVELOPE = new RegExp(
  String.raw`^\{(?:"jsonrpc":"2\.0","id":${ID},)?(?:${METHOD}|"result"):(${objectPattern()})(?:,"jsonrpc":"2\.0","id":${ID})?\}$`,
);

/** An object of JSON that is known to be valid, with spaces or without. */
function knownObject(): string {
  const string = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`;
  let inside = string;
  for (let depth = 1; depth < DEPTH; depth++) inside = `${string}|${bracketed(inside)}`;
  return String.raw`(?=\{)${bracketed(inside)}`;
}

function bracketed(inside: string): string {
  const between = String.raw`[^"{}[\]]*`;
  return String.raw`[{[]${between}(?:(?:${inside})${between})*[}\]]`;
}

export const KNOWN_OBJECT = knownObject();
/** Of a known string, without its quotes: a name that is written letter for letter. */
export const KNOWN_NAME = String.raw`[^"\\\x80-\xff]*`;
