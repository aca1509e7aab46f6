/**
 * Reads the envelope of one JSON-RPC message and keeps the payloads as bytes. Checks that the message is
 * valid JSON and replaces line breaks. Parses only the method.
 */
import { isUtf8 } from "node:buffer";
import { asRaw, type Raw, toLatin1 } from "../kernel/raw.ts";
import { IdFinder } from "./id-finder.ts";
import type { Malformed, Message } from "./message.ts";
import { INVALID_REQUEST, PARSE_ERROR } from "./rpc-error.ts";
import { ENVELOPE, SHORT } from "./short.ts";
import { eachMember, isKey } from "./slice.ts";
import { reset, sawLineBreak, scanKey, scanValue, skipSpace } from "./validate.ts";

const NAMES = ["jsonrpc", "id", "method", "params", "result", "error"];
const JSONRPC = 0;
const ID = 1;
const METHOD = 2;
const PARAMS = 3;
const RESULT = 4;
const ERROR = 5;

/** The method of most messages. It is compared as bytes, so that no string is made each time. */
const USUAL_METHOD = "tools/call";

/** In bytes. A method becomes a text that is compared, recorded and logged. */
const LONGEST_METHOD = 1_024;

/** The length of the text before an id. At the end of a message a comma takes the place of the brace. */
const BEFORE_ID = '{"jsonrpc":"2.0","id":'.length;

/** Start and end of each member in the message being read. Start 0 means that the member is missing. */
const spans = new Int32Array(2 * NAMES.length);

/** Reads one line, HTTP body or event. The message shares memory with the bytes. */
export function readMessage(bytes: Buffer): Message | Malformed {
  return (bytes.length <= SHORT && readShort(bytes)) || readAny(bytes);
}

/** Reads a short message in the usual form by a regular expression. Returns undefined for other forms. */
function readShort(bytes: Buffer): Message | undefined {
  // Latin-1 has one character per byte, so positions in the text and in the bytes are the same.
  const found = ENVELOPE.exec(toLatin1(bytes));
  if (!found || !isUtf8(bytes)) return undefined;
  const before = found[1];
  const id = before ?? found[4];
  // There is no id, or there are two.
  if (id === undefined || (before && found[4])) return undefined;
  const method = found[2];
  const payload = found[3] as string;
  const last = bytes.length - 1;
  const idAt = before ? BEFORE_ID : last - id.length;
  const end = before ? last : idAt - BEFORE_ID;
  const raw = asRaw(bytes.subarray(idAt, idAt + id.length));
  const value = asRaw(bytes.subarray(end - payload.length, end));
  if (method === undefined) return { kind: "result", id: raw, result: value };
  return { kind: "request", id: raw, method, params: value };
}

function readAny(bytes: Buffer): Message | Malformed {
  spans.fill(0);
  reset();
  const end = scanEnvelope(bytes);
  const lineBreak = sawLineBreak();
  reset();
  if (end < 0) return unreadable(bytes, notJson(bytes, ~end));
  if (!isUtf8(bytes)) return unreadable(bytes, "not UTF-8");
  // Messages are sent as lines, so a line break between two tokens must go.
  return toMessage(lineBreak ? withoutLineBreaks(bytes) : bytes);
}

/** Reads a part of bytes that `readMessage` found to be JSON. It is not checked again. */
export function readKnownMessage(bytes: Raw): Message | Malformed {
  spans.fill(0);
  eachMember(bytes, (key, value, end) => keepSpan(bytes, key, value, end));
  return toMessage(bytes);
}

/** Checks that the bytes are one JSON value of any kind. Returns the value, or the reason as a string. */
export function readValue(bytes: Buffer): Raw | string {
  reset();
  const end = expectEnd(bytes, scanValue(bytes, skipSpace(bytes, 0)));
  const lineBreak = sawLineBreak();
  reset();
  if (end < 0) return notJson(bytes, ~end);
  if (!isUtf8(bytes)) return "not UTF-8";
  return asRaw(lineBreak ? withoutLineBreaks(bytes) : bytes);
}

/** At an opening bracket the scan also stops because of the limit of levels. */
function notJson(bytes: Buffer, at: number): string {
  const deep = bytes[at] === 0x5b || bytes[at] === 0x7b;
  return `not JSON${deep ? ", or nested too deeply," : ""} at byte ${at}`;
}

function scanEnvelope(b: Buffer): number {
  let i = skipSpace(b, 0);
  if (b[i] !== 0x7b) return expectEnd(b, scanValue(b, i));
  i = skipSpace(b, i + 1);
  if (b[i] === 0x7d) return expectEnd(b, i + 1);
  for (;;) {
    const key = i;
    const value = scanKey(b, i);
    if (value < 0) return value;
    i = scanValue(b, value);
    if (i < 0) return i;
    keepSpan(b, key, value, i);
    i = skipSpace(b, i);
    if (b[i] === 0x7d) return expectEnd(b, i + 1);
    if (b[i] !== 0x2c) return ~i;
    i = skipSpace(b, i + 1);
  }
}

function expectEnd(b: Buffer, i: number): number {
  // Reading past the end of the buffer would make later reads of this function slower.
  if (i < 0 || i === b.length) return i;
  i = skipSpace(b, i);
  return i === b.length ? i : ~i;
}

/** Of a key that occurs twice the last value counts. */
function keepSpan(b: Buffer, key: number, value: number, end: number): void {
  for (let name = 0; name < NAMES.length; name++)
    if (isKey(b, key, NAMES[name] as string)) {
      spans[2 * name] = value;
      spans[2 * name + 1] = end;
      return;
    }
}

function toMessage(b: Buffer): Message | Malformed {
  const id = has(ID) && isId(b) ? span(b, ID) : undefined;
  const wrong = faultOf(b, id);
  if (wrong) {
    return { kind: "malformed", code: INVALID_REQUEST, reason: wrong, id, meant: meantBy() };
  }
  if (has(METHOD)) {
    const method = isText(b, METHOD, USUAL_METHOD) ? USUAL_METHOD : textOf(b, METHOD);
    const params = has(PARAMS) && first(b, PARAMS) !== 0x6e ? span(b, PARAMS) : undefined;
    return id ? { kind: "request", id, method, params } : { kind: "notification", method, params };
  }
  if (has(ERROR) && first(b, ERROR) === 0x7b) return { kind: "error", id, error: span(b, ERROR) };
  return { kind: "result", id: id as Raw, result: span(b, RESULT) };
}

/** Why the JSON is no valid message; undefined if it is one. */
function faultOf(b: Buffer, id: Raw | undefined): string | undefined {
  if (b[skipSpace(b, 0)] === 0x5b) return "batches are not supported";
  if (!has(JSONRPC) || !isText(b, JSONRPC, "2.0")) return 'jsonrpc is not "2.0"';
  if (has(METHOD)) {
    if (first(b, METHOD) !== 0x22) return "method is not a string";
    if (span(b, METHOD).length > LONGEST_METHOD) return "method is too long";
    if (has(ID) && !id) return "id is neither string nor number";
    if (has(RESULT) || has(ERROR)) return "both request and answer";
    const params = first(b, PARAMS);
    if (has(PARAMS) && params !== 0x7b && params !== 0x5b && params !== 0x6e)
      return "params is not an object";
    return undefined;
  }
  if (!has(RESULT) && !has(ERROR)) return "neither method nor result nor error";
  if (has(ID) && !id && first(b, ID) !== 0x6e) return "id is neither string nor number";
  // JSON-RPC 1.0 has both members, and one of them is null.
  if (has(ERROR) && first(b, ERROR) === 0x7b) return undefined;
  if (has(ERROR) && !(has(RESULT) && first(b, ERROR) === 0x6e)) return "error is not an object";
  return id ? undefined : "a result without an id";
}

function has(name: number): boolean {
  return spans[2 * name] !== 0;
}

function first(b: Buffer, name: number): number | undefined {
  return b[spans[2 * name] as number];
}

function span(b: Buffer, name: number): Raw {
  return asRaw(b.subarray(spans[2 * name], spans[2 * name + 1]));
}

function isId(b: Buffer): boolean {
  const c = first(b, ID) as number;
  return c === 0x22 || c === 0x2d || (c >= 0x30 && c <= 0x39);
}

/** Whether the value of the member is this string. */
function isText(b: Buffer, name: number, text: string): boolean {
  const start = spans[2 * name] as number;
  return b[start] === 0x22 && isKey(b, start, text);
}

/** The value of a string member; "" for other types. */
function textOf(b: Buffer, name: number): string {
  const start = spans[2 * name] as number;
  const end = spans[2 * name + 1] as number;
  if (b[start] !== 0x22) return "";
  const text = b.toString("utf8", start + 1, end - 1);
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

export function withoutLineBreaks(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = 0; i < copy.length; i++) if (copy[i] === 0x0a || copy[i] === 0x0d) copy[i] = 0x20;
  return copy;
}

/**
 * What was read before the fault mostly names the request. Otherwise its id is searched for behind the fault.
 */
function unreadable(bytes: Buffer, reason: string): Malformed {
  const known = meantBy();
  const id = known && has(ID) && isId(bytes) ? span(bytes, ID) : undefined;
  if (id && isUtf8(id)) return { kind: "malformed", code: PARSE_ERROR, reason, id, meant: known };
  const finder = new IdFinder();
  finder.push(bytes);
  return { kind: "malformed", code: PARSE_ERROR, reason, id: finder.id, meant: finder.meant };
}

/** A message with a method is a request, whatever else it has. */
function meantBy(): Malformed["meant"] {
  return has(METHOD) ? "request" : has(RESULT) || has(ERROR) ? "answer" : undefined;
}
