/**
 * Regular expressions for the usual form of short messages. V8 compiles a regular expression at its second
 * use, but a loop over bytes only after hundreds of messages. So loops read only messages that are long,
 * deeply nested or in another form. In each expression the next character decides what follows, so that text
 * that does not match fails after one pass.
 */

/** Up to this number of bytes a regular expression is as fast as a compiled loop. */
export const SHORT = 1_024;
/** The maximum nesting of objects and arrays. Each level doubles the expression. */
const DEPTH = 4;

const KEY = String.raw`"[^"\\\0-\x1f]*"`;
const STRING = String.raw`"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"`;
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const PLAIN = `${STRING}|${NUMBER}|true|false|null`;

/** Matches an object of valid JSON without spaces. */
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

/**
 * Matches a request or a result with id and version at the start or at the end. Groups: id at the start,
 * method, payload, id at the end.
 */
export const ENVELOPE = new RegExp(
  String.raw`^\{(?:"jsonrpc":"2\.0","id":${ID},)?(?:${METHOD}|"result"):(${objectPattern()})(?:,"jsonrpc":"2\.0","id":${ID})?\}$`,
);

/** Matches an object in JSON that is known to be valid, with or without spaces. */
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
/** Matches the inside of a string in valid JSON if it is ASCII without escapes. */
export const KNOWN_NAME = String.raw`[^"\\\x80-\xff]*`;
